"""Problems that end ci/matrix before a cell runs, and errors of the system."""

from __future__ import annotations  # Older Pythons read this, too.

import contextlib
import difflib
import errno
import os
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator
from typing import IO, Any, Union

StrPath = Union[str, "os.PathLike[str]"]


@contextlib.contextmanager
def naming(file: StrPath) -> Iterator[None]:
    """Adds the file's name to errors of the system, which write errors don't have."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(file)
        raise


def regular(file: StrPath, mode: str = "r") -> IO[Any]:
    """Opens a file that a command may have replaced: a pipe in its place, or a device without an end, is an error."""
    opened = open(file, mode, errors=None if "b" in mode else "replace", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK, 0o666))
    if stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
        return opened
    opened.close()
    raise OSError(errno.EINVAL, "is no regular file", str(file))


def in_words(error: OSError) -> str:
    """Describes an error of the system; for a full disk, also how much space is left, and where."""
    if error.errno == errno.ENXIO:
        return f"{error.filename}: nobody reads this pipe"
    folder = os.path.dirname(os.path.abspath(error.filename or "."))
    if error.errno != errno.ENOSPC or folder == "/dev":
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    free = shutil.disk_usage(folder).free >> 20 if os.path.exists(folder) else 0
    return f"no space left in {folder}: {free} MB are free"


class Problem(Exception):
    """A problem that is reported in one line, without a traceback, and leads to exit code 2."""


def check_known(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise Problem(there_is_no(what, name, known))


def there_is_no(what: str, name: object, known: Iterable[str]) -> str:
    """Returns a message that says so, which one was probably meant, and which ones there are."""
    meant = difflib.get_close_matches(str(name), known, 1)
    return f"there is no {what} '{name}'{f': did you mean {meant[0]}?' if meant else ''}; known: {', '.join(known)}"
