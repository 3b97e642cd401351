"""The jobs of hosted runners: one for all cells that share a build folder, or that name the same job."""

from collections.abc import Sequence
from typing import Any

from .cells import Cell, Matrix, with_values
from .problems import Problem

MOST = 256  # GitHub refuses a matrix of more jobs.


def jobs(matrix: Matrix, cells: Sequence[Cell]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the entries of a workflow's matrix, and those of a second one, whose jobs need some of the first."""
    found, job_of = dict[str, list[Cell]](), {cell.id: cell.job for cell in cells}
    for cell in cells:
        found.setdefault(cell.job, []).append(cell)
    if len(found) > MOST:
        raise Problem(f"{len(found)} hosted jobs, and a host takes {MOST}: cells with the same 'job' share one")
    needs = {name: {job_of.get(other, name) for cell in members for other in cell.needs} - {name} for name, members in found.items()}
    first, then = list[dict[str, Any]](), list[dict[str, Any]]()
    for name, members in found.items():
        if second := next((other for other in sorted(needs[name]) if needs[other]), None):
            raise Problem(f"the hosted job '{name}' needs '{second}', which needs '{min(needs[second])}': give cells of two of them the same 'job'")
        runner = {key: with_values(value, members[0].axes) for key, value in matrix.runners[members[0].runner].items()}
        (then if needs[name] else first).append({
            "job": name, "cells": " ".join(cell.id for cell in members), "runs-on": runner.get("runs-on", "ubuntu-latest"),
            "container": runner.get("container"), "minutes": minutes(members),  # None: runs on the machine itself
            "depth": 0 if any("git-tag" in cell.requires for cell in members) else 1})  # of the clone: tags need the history
    return first, then


def minutes(cells: Sequence[Cell]) -> int:
    """Returns the longest time that the cells may take, with every retry, and all tests once more; cells that share a build folder build once."""
    seconds = dict[tuple[str, ...], int]()
    for cell in cells:
        for step in cell.steps:
            what = (cell.build, step.run, str(cell.env | step.env)) if step.kind == "build" else (cell.id, step.name)
            longest = step.timeout * (2 + cell.retries if step.takes("report") and cell.retries else 1)
            seconds[what] = max(longest, seconds.get(what, 0))  # A cell may give the same build another time-out.
    # Room for what the steps' time-outs don't cover: the runner's own steps.
    return sum(seconds.values()) // 60 + 10
