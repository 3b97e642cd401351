"""Which cells are meant."""

import fnmatch

from .cells import LABELS
from .problems import Problem


def no_cell(matrix, name):
    raise Problem(f"there is no cell '{name}'; known: {', '.join(cell.id for cell in matrix.cells)}")


def matching(matrix, pattern):
    return [cell for cell in matrix.cells if fnmatch.fnmatchcase(cell.id, pattern)] or no_cell(matrix, pattern)


def axis_value(matrix, text):
    axis, separator, value = text.partition("=")
    if not separator or axis not in matrix.axes:
        raise Problem(f"'{text}' is not AXIS=VALUE; axes: {', '.join(matrix.axes)}")
    if value not in matrix.axes[axis]:
        raise Problem(f"'{value}' is no value of {axis}; known: {', '.join(matrix.axes[axis])}")
    return axis, value


def select(matrix, names=(), labels=(), axes=()):
    """The cells in the order of the file that have a name given (ids and globs), a label given and each axis' value; `!x` takes out."""
    labels = [label for text in labels for label in text.split(",")]
    for label in labels:
        if label not in LABELS:
            raise Problem(f"there is no label '{label}'; known: {', '.join(LABELS)}")
    values = [axis_value(matrix, text) for text in axes]
    wanted = [name for name in names if not name.startswith("!")]
    chosen = {cell.id for name in wanted or ["*"] for cell in matching(matrix, name)}
    for name in names:
        if name.startswith("!"):
            chosen -= {cell.id for cell in matching(matrix, name[1:])}
    return [
        cell for cell in matrix.cells
        if cell.id in chosen and (not labels or set(labels) & set(cell.labels)) and all(cell.axes[axis] == value for axis, value in values)
    ]
