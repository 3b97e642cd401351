"""What ends ci/matrix before a cell is run."""


import errno
import os
import shutil


def in_words(error):
    """What the system refused; of a full disk also how much room there is left, and where."""
    if error.errno != errno.ENOSPC or not error.filename:
        return str(error)
    folder = os.path.dirname(os.path.abspath(error.filename))
    free = shutil.disk_usage(folder).free >> 20 if os.path.exists(folder) else 0
    return f"no space left in {folder}: {free} MB are free"


class Problem(Exception):
    """Said in one line, without a trace of where it came from; ends with exit code 2."""
