"""The folders of cells: those for temporary files, TMPDIR in commands, and their builds, which `clean` or the bound on them removes."""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import IO

from .problems import StrPath, in_words, regular
from .processes import fault, said

PREFIX = "ci-matrix."
# Not Python's own function, which can't remove a thousand folders in each other. Found whatever PATH is.
RM = [shutil.which("rm", path=os.defpath) or "rm", "-rf"]


@contextlib.contextmanager
def temporary(home: StrPath, say: Callable[[str], object]) -> Iterator[str]:
    """Makes a folder, and removes it afterward, as well as those that earlier runs left: a file in `home`, the cell's folder, names them."""
    note, left = pathlib.Path(home) / "temporary", []
    with contextlib.suppress(FileNotFoundError), regular(note) as file:
        ours = [path for path in file.read().split("\n") if re.fullmatch(rf"/[^\0]*/{re.escape(PREFIX)}[^/\0]+", path)]
        left = [path for path in ours if not removed(path, say)]
    path = tempfile.mkdtemp(prefix=PREFIX)  # Not in `home`: it may contain sockets, whose paths have a hundred characters at most.
    try:
        with regular(note, "w") as file:
            file.write("\n".join([*left, path]))
        yield path
    finally:
        if removed(path, say) and not left:
            note.unlink(missing_ok=True)


def removed(path: StrPath, say: Callable[[str], object]) -> bool:
    """Removes a folder, and returns whether it is gone; says why if it stays. What is mounted in it is somebody else's: then all stays."""
    if places := mounted(path):
        why = f"mounted there: {', '.join(places)}"
    elif why := fault(*RM, path):
        fault("find", path, "-type", "d", "!", "-perm", "-u+rwx", "-exec", "chmod", "u+rwx", "{}", ";")  # What is read-only is removed, too.
        why = fault(*RM, path)
    if why:
        say(f"{path} stays: {why[:500]}")
    return not why


def mounted(path: StrPath) -> list[str]:
    """Returns where something is mounted in a folder, even a part of the same file system, which no number of a device tells."""
    try:
        with open("/proc/self/mountinfo", errors="replace") as file:
            places = [re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), line.split()[4]) for line in file]
    except FileNotFoundError:  # This isn't Linux.
        places = re.findall(r" on (/.*) \(", said("mount") or "")
    path = os.path.realpath(path)
    return [place for place in places if place == path or place.startswith(f"{path}/")]


def lock(folder: pathlib.Path) -> IO[str]:
    """Opens the file that whoever uses a cell's folder locks. It outlives the folder: a removed one could be locked beside a new one."""
    file = folder.parents[1] / "locks" / folder.name
    file.parent.mkdir(parents=True, exist_ok=True)
    return regular(file, "w")


def locked(file: IO[str]) -> bool:
    """Tries to lock a file; returns whether this process has the lock now, which goes with it, however it ends."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def megabytes(folder: pathlib.Path) -> int:
    blocks = 0
    for file in (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names):
        with contextlib.suppress(OSError):  # Another run may be removing it.
            blocks += os.lstat(file).st_blocks
    return blocks * 512 >> 20


def clean(folders: Iterable[pathlib.Path]) -> Iterator[str]:
    """Removes cells' folders, but none that another run uses; yields a line for each."""
    for folder in folders:
        try:
            with lock(folder) as file:
                if not locked(file):
                    yield f"{folder} stays, since another run uses it"
                elif folder.exists():  # Another run may have removed it meanwhile.
                    size, notes = megabytes(folder), list[str]()
                    yield f"removed {folder}: {size} MB" if removed(folder, notes.append) else notes[0]
        except OSError as error:  # Its lock may be another user's.
            yield f"{folder} stays: {in_words(error)}"


def keep_below(bound: int, cells: pathlib.Path) -> Iterator[str]:
    """Removes the builds that have not been used for the longest time until those of all cells take less than so many megabytes."""
    locks = sorted(cells.with_name("locks").glob("*"), key=lambda lock: lock.lstat().st_mtime)
    folders = [cells / lock.name for lock in locks]
    sizes = [*map(megabytes, folders)]
    yield from clean(folder for number, folder in enumerate(folders) if sum(sizes[number:]) > bound)
