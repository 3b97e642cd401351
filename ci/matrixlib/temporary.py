"""A cell's folder for temporary files, TMPDIR in its commands."""

import contextlib
import pathlib
import shutil
import tempfile

PREFIX = "ci-matrix."


@contextlib.contextmanager
def folder(home):
    """Makes a folder, and removes it afterward, as well as one that a killed run left: a file in `home`, the cell's folder, names it."""
    note = pathlib.Path(home) / "temporary"
    if note.exists():
        remove(note.read_text())
    path = tempfile.mkdtemp(prefix=PREFIX)  # Not in `home`: it may contain sockets, whose paths have a hundred characters at most.
    try:
        note.write_text(path)
        yield path
    finally:
        remove(path)
        note.unlink(missing_ok=True)


def remove(path):
    if pathlib.Path(path).name.startswith(PREFIX):
        shutil.rmtree(path, ignore_errors=True)
