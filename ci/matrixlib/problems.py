"""What ends ci/matrix before a cell is run."""


class Problem(Exception):
    """Said in one line, without a trace of where it came from; ends with exit code 2."""
