"""What ends ci/matrix before a cell is run, and what the system refuses."""

import contextlib
import difflib
import errno
import os
import pathlib
import shlex
import shutil


@contextlib.contextmanager
def naming(file):
    """Has what the system refuses say of which file: an error of writing doesn't."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(file)
        raise


def in_words(error):
    """What the system refused; of a full disk also how much room there is left, and where."""
    if error.errno == errno.ENXIO:
        return f"{error.filename}: nobody reads this pipe"
    folder = os.path.dirname(os.path.abspath(error.filename or "."))
    if error.errno != errno.ENOSPC or folder == "/dev":
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    free = shutil.disk_usage(folder).free >> 20 if os.path.exists(folder) else 0
    return f"no space left in {folder}: {free} MB are free"


class Problem(Exception):
    """Said in one line, without a trace of where it came from; ends with exit code 2."""


def program(project):
    """What runs cells of a project; for another one than this, from wherever it is pasted."""
    home, project = pathlib.Path(__file__).resolve().parents[2], pathlib.Path(os.path.realpath(project))
    return "ci/matrix" if project == home else shlex.join([f"{home}/ci/matrix", "--project", str(project)])


def there_is_no(what, name, known):
    """Says so, which one was probably meant, and which ones there are."""
    meant = difflib.get_close_matches(str(name), known, 1)
    return f"there is no {what} '{name}'{f': did you mean {meant[0]}?' if meant else ''}; known: {', '.join(known)}"
