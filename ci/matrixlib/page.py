"""Shows the results of one or several runs on an HTML page that needs no other file: cells by axes, times, first failures, flakes."""

import html
from collections.abc import Sequence

from .archive import first
from .history import History
from .report import closing_line
from .results import CellResult
from .screen import clock


def page(cells: Sequence[CellResult], history: History) -> str:
    """Returns the page; `history` knows which tests were flaky before."""
    slowest = max((cell.seconds for cell in cells), default=0) or 1
    usual = [max(values, key=values.count) for values in zip(*([*cell.axes.values()] for cell in cells if cell.axes))]
    rows = "".join(row(cell, slowest, usual, history) for cell in cells)
    return first("report.html").replace("{closing}", html.escape(closing_line(cells))).replace("{rows}", rows)


def row(cell: CellResult, slowest: float, usual: list[str], history: History) -> str:
    own = ", ".join(f"{axis}={value}" for (axis, value), common in zip(cell.axes.items(), usual) if value != common)
    flakes = "".join(f"<li>{html.escape(test)}: {count}×</li>" for test, count in history.flakes(cell).items())
    failure = next((step for step in cell.steps if step.status != "passed"), None)
    said = [f"{test.name}: {message}" for test in failure.tests if test.status != "skipped" for message in test.messages[:1]] if failure else []
    said = said[:3] + ([f"and {len(said) - 3} more"] if said[3:] else [])
    why = html.escape("\n".join([cell.why, *said]).strip())
    steps = "".join(f"<li>{html.escape(step.name)} {clock(step.seconds)}</li>" for step in cell.steps)
    return (
        f'<tr class="{html.escape(cell.status)}"><th scope="row">{html.escape(cell.id)}</th><td>{html.escape(own)}</td><td>{html.escape(cell.status)}</td>'
        f'<td><meter max="{slowest}" value="{cell.seconds}"></meter> {clock(cell.seconds) if cell.steps else ""}<ul>{steps}</ul></td>'
        f"<td>{len(cell.tests) or ''}{cell.beside}</td><td><pre>{why}</pre></td><td><ul>{flakes}</ul></td></tr>\n")
