"""Results of one or several runs as JUnit, as a table in Markdown, and as an HTML page that needs no other file."""

import collections
import html
from collections.abc import Iterable, Sequence
from typing import Any
import xml.etree.ElementTree as xml

from .archive import first
from .history import History
from .results import CellResult, StepResult
from .screen import clock

# The characters that XML may not contain.
FORBIDDEN = {code: "\N{REPLACEMENT CHARACTER}" for code in [*range(0, 9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF]}


def merged(runs: Iterable[list[CellResult]]) -> list[CellResult]:
    """Returns the cells of several runs. Of a cell in more than one run, the last result that isn't a skip counts, or else the first."""
    found = {}
    for cells in runs:
        for cell in cells:
            if cell.status != "skipped" or cell.id not in found:
                found[cell.id] = cell
    return list(found.values())


def without_result(jobs: Any, cells: list[CellResult]) -> list[CellResult]:
    """Returns failed results for cells of hosted jobs (as `github` prints them) that have none: a job may end before it runs them."""
    known = {cell.id for cell in cells}
    names = [name for job in jobs["include"] for name in job["cells"].split()]
    return [CellResult(name, "failed", why="no result: its job ended before it had one", code=4) for name in names if name not in known]


def closing_line(cells: Sequence[CellResult]) -> str:
    """Returns the numbers of passed, failed and skipped cells, and of others if there are any. A flaky cell may count as failed."""
    count = collections.Counter("failed" if cell.status == "flaky" and cell.code else cell.status for cell in cells)
    besides = "".join(f", {count[status]} {status}" for status in ("unchanged", "flaky", "interrupted") if count[status])
    return f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped{besides}"


# What JUnit calls a status of ours; all others that aren't its own are errors.
OF_CELLS = {"skipped": "skipped", "unchanged": "skipped", "passed": "passed"}
OF_TESTS = {"running": "error", "flaky": "failure", "failed": "failure"}


def junit(cells: Sequence[CellResult]) -> str:
    root = xml.Element("testsuites")
    for cell in cells:
        suite = xml.SubElement(root, "testsuite", name=cell.id, time=f"{cell.seconds:.3f}")
        if not cell.steps or cell.status == "failed" and not cell.failed_step:
            case(suite, cell.id, "cell", 0, OF_CELLS.get(cell.status, "error"), cell.why)
        for step in cell.steps:
            cases_of_step(suite, cell, step)
        for attribute, kind in (("tests", "testcase"), ("failures", "testcase/failure"), ("errors", "testcase/error"), ("skipped", "testcase/skipped")):
            suite.set(attribute, str(len(suite.findall(kind))))
    xml.indent(root)
    return xml.tostring(root, encoding="unicode", xml_declaration=True).translate(FORBIDDEN) + "\n"


def cases_of_step(suite: xml.Element, cell: CellResult, step: StepResult) -> None:
    """Adds a step's tests, and the step itself if it has none, or failed for another reason than they say."""
    for test in step.tests:
        owner, _, name = test.name.partition("/")
        text = "\n".join(test.messages) or ("running when its process ended" if test.status == "running" else "")
        prefix = "flaky: " if test.status == "flaky" else ""
        case(suite, f"{cell.id}.{owner}", name or owner, test.seconds, OF_TESTS.get(test.status, test.status), prefix + text)
    told = any(test.status in OF_TESTS for test in step.tests)
    if not step.tests or (step.status not in ("passed", "flaky") and (step.finding or not told)):
        case(suite, cell.id, step.name, step.seconds, "passed" if step.status == "passed" else "error", step.why)


def case(suite: xml.Element, owner: str, name: str, seconds: float, status: str, text: str) -> None:
    element = xml.SubElement(suite, "testcase", classname=owner, name=name, time=f"{seconds:.3f}")
    if status != "passed":
        child = xml.SubElement(element, status, message=text.partition("\n")[0])
        child.text = text if "\n" in text else None


def markdown(cells: Sequence[CellResult]) -> str:
    def escaped(text: str) -> str:
        return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")

    rows = ["| Cell | Result | Time | Tests | Slowest test | Why |", "|---|---|--:|--:|---|---|"]
    for cell in cells:
        slowest = max(cell.tests, key=lambda test: test.seconds, default=None)
        shown = f"`{slowest.name}` {slowest.seconds:.1f} s" if slowest else ""
        result = f"**{cell.status}**" if cell.status in ("failed", "flaky", "interrupted") else cell.status
        took = clock(cell.seconds) if cell.steps else ""
        metrics = ", ".join(f"{name} {value:g}" for name, value in cell.metrics.items())
        why = escaped("; ".join(filter(None, [cell.why, metrics])))
        rows.append(f"| {cell.id} | {result} | {took} | {len(cell.tests) or ''}{cell.beside} | {escaped(shown)} | {why} |")
    return "\n".join([*rows, "", closing_line(cells)]) + "\n"


def page(cells: Sequence[CellResult], history: History) -> str:
    """Returns the page; `history` knows which tests were flaky before."""
    slowest = max((cell.seconds for cell in cells), default=0) or 1
    usual = [max(values, key=values.count) for values in zip(*([*cell.axes.values()] for cell in cells if cell.axes))]
    rows = "".join(row(cell, slowest, usual, history) for cell in cells)
    return first("report.html").replace("{closing}", html.escape(closing_line(cells))).replace("{rows}", rows)


def row(cell: CellResult, slowest: float, usual: list[str], history: History) -> str:
    own = ", ".join(f"{axis}={value}" for (axis, value), common in zip(cell.axes.items(), usual) if value != common)
    flakes = items(f"{test}: {count}×" for test, count in history.flakes(cell).items())
    steps = items(f"{step.name} {clock(step.seconds)}" for step in cell.steps)
    tests = next((step.tests for step in cell.steps if step.status != "passed"), ())  # What the first ones said.
    said = [f"{test.name}: {test.messages[0]}" for test in tests if test.status != "skipped" and test.messages]
    more = [f"and {len(said) - 3} more"] if said[3:] else []
    why = html.escape("\n".join([cell.why, *said[:3], *more]).strip())
    return (
        f'<tr class="{html.escape(cell.status)}"><th scope="row">{html.escape(cell.id)}</th><td>{html.escape(own)}</td><td>{html.escape(cell.status)}</td>'
        f'<td><meter max="{slowest}" value="{cell.seconds}"></meter> {clock(cell.seconds) if cell.steps else ""}<ul>{steps}</ul></td>'
        f"<td>{len(cell.tests) or ''}{cell.beside}</td><td><pre>{why}</pre></td><td><ul>{flakes}</ul></td></tr>\n")


def items(texts: Iterable[str]) -> str:
    return "".join(f"<li>{html.escape(text)}</li>" for text in texts)
