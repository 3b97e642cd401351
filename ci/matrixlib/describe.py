"""Describes cells for `list` and `explain`."""

from collections.abc import Iterator, Sequence
from time import time as now
from typing import Any

from . import shell
from .cells import Cell, Matrix
from .history import History
from .requirements import missing, missing_of
from .screen import clock
from .shell import Places


def rows(cells: Sequence[Cell], history: History, project: str) -> Iterator[dict[str, Any]]:
    """Yields each cell as `list --json` prints it."""
    for cell in cells:
        reason = missing_of(cell, project)
        yield {
            "id": cell.id, "what": cell.what, "labels": list(cell.labels), "axes": cell.axes, "job": cell.job, "optional": cell.optional,
            "ready": reason is None, "why": reason or "", "seconds": history.last(cell, "seconds"),
            "last": history.last(cell, "status"), "at": history.last(cell, "time")}


def age(time: float) -> str:
    """Returns how long ago a time was, in one number: 5m ago, 3h ago, 12d ago."""
    minutes = max(0, now() - time) / 60
    return f"{minutes:.0f}m ago" if minutes < 60 else f"{minutes / 60:.0f}h ago" if minutes < 48 * 60 else f"{minutes / 1440:.0f}d ago"


def listing(matrix: Matrix, found: list[dict[str, Any]]) -> Iterator[str]:
    """Yields the lines of a table, which shows an axis only if its value isn't the default."""
    usual = {axis: values[0] for axis, values in matrix.axes.items()}
    width = max((len(row["id"]) for row in found), default=0)
    for row in found:
        took = clock(row["seconds"]) if row["seconds"] is not None else ""
        took = took and ("in " if row["last"] == "passed" else "passes in ") + took
        last = f"{row['last'] or '':7} {age(row['at']) if row['at'] else '':>8} {took:>14}"
        axes = "".join(f" {axis}={value}" for axis, value in row["axes"].items() if value != usual[axis])
        state = "" if row["ready"] else f"  [skipped here: {row['why']}]"
        yield f"{row['id']:{width}}  {','.join(row['labels']):12} {last}  {row['what']}{axes and '  (' + axes.strip() + ')'}{state}"


def explanation(cell: Cell, places: Places, history: History) -> Iterator[str]:
    """Yields lines with everything about a cell, including the commands that it runs."""
    yield f"{cell.id}: {cell.what}"
    yield f"  labels      {', '.join(cell.labels)}{'; optional' if cell.optional else ''}{'; runs alone' if cell.exclusive else ''}"
    yield f"  axes        {', '.join(f'{axis}={value}' for axis, value in cell.axes.items())}"
    for requirement in cell.requires:
        yield f"  requires    {requirement}: {missing(requirement, str(places.project)) or 'is there'}"
    for name in cell.needs:
        yield f"  needs       {name}"
    yield f"  builds in   {places.folder(cell)}/build" + ("" if cell.build == cell.id else f", that of {cell.build}")
    yield f"  logs        {places.logs(cell)}"
    yield f"  hosted job  {cell.job}, on {cell.runner}"
    seconds, status = history.last(cell, "seconds"), history.last(cell, "status")
    yield f"  last time   {status or 'has not run here'}" + (f", {clock(seconds)} when it passed" if seconds is not None else "")
    yield f"  retries     {cell.retries} of failing tests, which are flaky, not passed, if all pass then"
    for test, count in history.flakes(cell).items():
        yield f"  flaky       {count} times: {test}"
    yield "  steps"
    for step in cell.steps:
        yield f"    {step.name}: a {step.kind}, {step.timeout} s at most"
        yield from (f"      {name}={value}" for name, value in shell.own(places, cell.env | step.env).items())
        yield from (f"      {line}" for line in shell.command(places, cell, step).splitlines())
    yield f"  run it      {places.program} run {cell.id}"
