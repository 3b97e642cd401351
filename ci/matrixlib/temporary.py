"""A cell's folder for temporary files, TMPDIR in its commands."""

import contextlib
import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator

from .problems import StrPath, regular
from .processes import fault, said

PREFIX = "ci-matrix."
# Not Python's own function, which can't remove a thousand folders in each other. Found whatever PATH is.
RM = [shutil.which("rm", path=os.defpath) or "rm", "-rf"]


@contextlib.contextmanager
def folder(home: StrPath, say: Callable[[str], object]) -> Iterator[str]:
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
