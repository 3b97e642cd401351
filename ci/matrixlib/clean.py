"""`clean`, and the bound on what cells leave: removes builds, but none that another run is using."""

import os
import pathlib
from collections.abc import Iterable, Iterator

from .problems import regular
from .runner import locked
from .shell import Places
from .temporary import removed


def megabytes(folder: pathlib.Path) -> int:
    """Returns the space that a folder takes on the disk."""
    files = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    return sum(os.lstat(file).st_blocks for file in files if os.path.lexists(file)) * 512 >> 20


def clean(folders: Iterable[pathlib.Path]) -> Iterator[str]:
    """Removes cells' folders; yields a line for each."""
    for folder in folders:
        with regular(folder / "lock", "w") as lock:
            if not locked(lock):
                yield f"{folder} stays, since another run uses it"
                continue
            size, notes = megabytes(folder), list[str]()
            yield f"removed {folder}: {size} MB" if removed(folder, notes.append) else notes[0]


def keep_below(places: Places, bound: int) -> Iterator[str]:
    """Removes the builds that have not been used for the longest time until those of all cells take less than so many megabytes."""
    folders = sorted((folder for folder in (places.project / ".ci/cells").iterdir() if folder.is_dir()), key=lambda folder: (folder / "lock").stat().st_mtime)
    sizes = [megabytes(folder) for folder in folders]
    while folders and sum(sizes) > bound:
        yield from clean([folders.pop(0)])
        sizes.pop(0)
