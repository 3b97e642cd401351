"""Selects the cells that are meant."""

import dataclasses
import fnmatch
import math
import shlex
from argparse import Namespace
from collections.abc import Sequence

from .cells import LABELS, Cell, Matrix, Step, unsharded
from .history import History
from .problems import Problem, check_known, there_is_no


def matching(matrix: Matrix, pattern: str) -> list[Cell]:
    if found := [cell for cell in matrix.cells if fnmatch.fnmatchcase(cell.id, pattern)]:
        return found
    raise Problem(there_is_no("cell", pattern, [cell.id for cell in matrix.cells]))


def select(matrix: Matrix, names: Sequence[str] = (), labels: Sequence[str] = (), axes: Sequence[str] = ()) -> list[Cell]:
    """Returns the cells, in the file's order, that match a name (id or glob), a label and every axis value given; `!x` leaves out."""
    labels = [label for text in labels for label in text.split(",")]
    for label in labels:
        check_known("label", label, LABELS)
    of_labels, values = set().union(*(LABELS[label] for label in labels or LABELS)), set[tuple[str, str]]()
    for text in axes:
        axis, separator, value = text.partition("=")
        if not separator:
            raise Problem(f"'{text}' is not AXIS=VALUE; axes: {', '.join(matrix.axes)}")
        check_known("axis", axis, matrix.axes)
        check_known(f"value of the axis '{axis}' called", value, matrix.axes[axis])
        values.add((axis, value))
    left_out = {cell.id for name in names if name.startswith("!") for cell in matching(matrix, name[1:])}
    wanted = [name for name in names if not name.startswith("!")] or ["*"]
    chosen = {cell.id for name in wanted for cell in matching(matrix, name)} - left_out
    return [cell for cell in matrix.cells if cell.id in chosen and of_labels & set(cell.labels) and values <= cell.axes.items()]


def changed(options: Namespace, cells: Sequence[Cell], history: History) -> list[Cell]:
    """Returns the cells, changed by the options of a run."""
    if options.last_failed:
        failed = {cell.id for cell in cells if history.last(cell, "status") in ("failed", "flaky")}
        cells = [cell for cell in cells if failed & {cell.id, *cell.needs}]  # What needs one of them was not run.
    for name in options.step if cells else ():
        check_known("step", name, dict.fromkeys(step.name for cell in cells for step in cell.steps))
    retries = {} if options.retries is None else {"retries": options.retries}
    found = [dataclasses.replace(cell, steps=tuple(steps_of(options, cell)), **retries) for cell in cells]
    return [of_shard(cell, options.shard) for cell in found if cell.steps]


def of_shard(cell: Cell, shard: str | None) -> Cell:
    if not shard or not any(step.kind == "test" for step in cell.steps):
        return cell
    if problem := "it is one shard already" if cell.shard else unsharded(cell):
        raise Problem(f"--shard: {cell.id}: {problem}")
    return dataclasses.replace(cell, shard=shard)


def steps_of(options: Namespace, cell: Cell) -> list[Step]:
    """Returns the steps of a cell that are meant, with their time-outs and the arguments behind --."""
    steps = [step for step in cell.steps if not options.step or step.name in options.step]
    steps = [dataclasses.replace(step, timeout=max(1, math.ceil(min(1e9, step.timeout * options.timeout_factor)))) for step in steps]
    if not options.rest or not steps:
        return steps
    words, of_tests = shlex.join(options.rest), [step for step in steps if step.takes("tests")]
    if not of_tests:
        return [*steps[:-1], dataclasses.replace(steps[-1], run=f"{steps[-1].run.rstrip()} {words}")]
    # Other steps that choose their tests would find none of these.
    return [dataclasses.replace(step, tests=words) if step is of_tests[0] else step for step in steps if step not in of_tests[1:]]
