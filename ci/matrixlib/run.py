"""`ci/matrix run`: from the chosen cells to the last line."""

import os
import shlex
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial

from . import details, inputs, report, results, shell
from .cells import Cell
from .history import History
from .problems import in_words
from .processes import Processes, on_interrupt
from .requirements import forget, install, on_ci
from .results import CellResult
from .runner import INFRASTRUCTURE, INTERRUPTED, Runner
from .screen import Screen, clock, to_nowhere
from .shell import Places

NOTHING = 5


class Inputs:
    """What the results of cells depend on, as it is before they run, and again afterward."""

    def __init__(self, options: Namespace, cells: Sequence[Cell], places: Places, history: History) -> None:
        self.cells, self.project, self.places, self.history = cells, str(places.project), places, history
        self.leaves_out = options.changed == "ci" or options.changed and not on_ci()
        self.report = options.report and os.path.relpath(os.path.realpath(options.report), places.project)
        self.before = {cell.id: self.of(cell) for cell in cells}
        self.resolved = inputs.resolved(self.project)

    def of(self, cell: Cell, made: Set[str] = frozenset()) -> str | None:
        return inputs.fingerprint(self.project, cell, self.report, made)

    def unchanged(self, cell: Cell) -> CellResult | None:
        """Returns the result of the cell's last run, if --changed leaves the cell out: nothing changed for it, nor for a cell that it needs."""
        ids = {cell.id, *cell.needs}
        if self.leaves_out and all(self.as_it_passed(other) for other in self.cells if other.id in ids):
            return results.kept(self.places.result(cell), cell.id, self.of(cell))
        return None

    def as_it_passed(self, cell: Cell) -> bool:
        return (now := self.of(cell)) is not None and self.history.inputs(cell) == now

    def doubts(self) -> Iterator[str]:
        """Yields why --changed leaves out less than it could."""
        if not self.leaves_out:
            return
        for command in inputs.Listing(self.project).failed.values():
            yield f"matrix: --changed runs all of them, because this fails, which says what their files are: {shlex.join(command)}"
        for cell in self.cells if inputs.files(self.project) is not None else ():
            for glob in inputs.unmatched(self.project, cell):
                yield f"matrix: {cell.id}: no file below the project's folder fits '{glob}' of its inputs, so that --changed doesn't leave it out"

    def keep(self, found: list[CellResult]) -> None:
        """Keeps them with the results. If they changed meanwhile, they aren't what passed, except for what a first build writes."""
        inputs.files.cache_clear()
        for cell, result in zip(self.cells, found):
            now, made = self.of(cell), inputs.resolved(self.project) - self.resolved
            same = self.of(cell, made) if made else now
            result.inputs = now if same == self.before[cell.id] else None


def run(options: Namespace, cells: Sequence[Cell], places: Places) -> int:
    if not cells:
        print("nothing failed when it was last run here" if options.last_failed else "nothing is selected", report.closing_line([]), sep="\n")
        results.write(options.report or os.devnull, results.to_json([], 0))  # Replaces an earlier run's report.
        return NOTHING
    inputs.forget()
    known = Inputs(options, cells, places, History(places))
    if options.dry_run:
        print_commands(places, cells, known.unchanged)
        return 0
    if options.install and (reason := install(cells, places.project)):
        print(f"matrix: Debian packages could not be installed: {reason}")
        return INFRASTRUCTURE
    places.mend(cells)
    forget()  # What was missing may be installed when --watch runs the cells again.
    for doubt in known.doubts():
        print(doubt)
    return Run(options, cells, places, known).status()


class Run:
    """A run of cells, from the first one to the last line."""

    def __init__(self, options: Namespace, cells: Sequence[Cell], places: Places, known: Inputs) -> None:
        self.options, self.cells, self.places, self.known = options, cells, places, known
        self.screen = Screen(len(cells), max(len(cell.id) for cell in cells), estimate(cells, known.history, options.jobs))
        self.found: list[CellResult] = []
        self.unwritten = ""  # why some results can't be written

    def status(self) -> int:
        """Runs the cells, and returns the exit code."""
        self.run()
        if self.screen.refused and not isinstance(self.screen.refused, BrokenPipeError):
            raise self.screen.refused
        try:
            for line in self.closing_lines():
                print(line, flush=True)
        except BrokenPipeError as error:
            self.screen.refused = error
            to_nowhere(sys.stdout)
        if self.options.watch and self.screen.refused:  # Nobody watches any more.
            return INTERRUPTED
        return code(self.found) or (INFRASTRUCTURE if self.unwritten else 0)

    def run(self) -> None:
        """Runs the cells and saves their results."""
        processes = Processes()
        runner = Runner(self.options, self.places, processes, self.screen, self.known.unchanged)

        def end() -> None:
            """Ends what runs; its results are still reported."""
            processes.stop()
            self.screen.interrupted()

        # Ends in another thread, because the signal may come while this one holds a lock that ending needs. Handled until the results
        # are saved, because an interrupt would otherwise lose them.
        with on_interrupt(lambda *_: threading.Thread(target=end).start()):
            with self.screen:
                self.found = runner.run(self.cells)
            if runner.shared:
                print(f"{len(runner.shared)} builds were those of other cells, which saved about {clock(sum(runner.shared))}")
            for result in self.found:
                if self.options.fail_on_flaky and result.status == "flaky":
                    result.code = 1
            self.known.keep(self.found)
            self.unwritten = self.save()

    def save(self) -> str:
        """Writes the results wherever that is possible; returns why some can't be written."""
        unwritten = []
        for write in self.writers():
            try:
                write()
            except OSError as error:
                unwritten.append(in_words(error))
        return "; ".join(dict.fromkeys(unwritten))

    def writers(self) -> Iterator[Callable[[], None]]:
        options, places, found = self.options, self.places, self.found
        ran = [result for result in found if result.steps and result.status != "unchanged"]
        value = results.to_json(found, sum(result.seconds for result in ran))
        for result in ran:
            yield partial(results.write, places.result(result), results.to_json([result], result.seconds))
        yield partial(results.write, options.report or os.devnull, value)
        yield partial(results.write, places.results / "latest.json", value)
        yield partial(results.write, places.results / "junit.xml", report.junit(found))
        yield partial(results.append, os.environ.get("GITHUB_STEP_SUMMARY") or os.devnull, report.markdown(found))
        # If a part of a cell passed, that says nothing about the whole: neither how it ends nor how long it takes.
        in_part = options.step or options.rest or options.shard
        yield partial(self.known.history.add, [result for result in found if result.status != "passed" or not in_part])

    def closing_lines(self) -> Iterator[str]:
        """Yields what the lines of the cells don't say."""
        if self.unwritten:
            yield f"the results could not be written: {self.unwritten}"
        for result in self.found if len(self.found) > 1 else ():
            if result.status == "failed":
                yield from self.failures(result)
        if flaky := [result.id for result in self.found if result.status == "flaky"]:
            yield f"{len(flaky)} flaky: {', '.join(flaky)}" + (", which counts as failed" if self.options.fail_on_flaky else "")
        if code(self.found) == NOTHING:
            yield "nothing was run"
        yield report.closing_line(self.found)

    def failures(self, result: CellResult) -> Iterator[str]:
        """Yields what failed of a cell: its steps and their tests, with the command that runs only that again."""
        if not result.failed_steps:
            yield from (f"failed: {result.id}: {result.why}", details.again(self.places, self.options, result))
        for step in result.failed_steps:
            yield from (f"failed: {result.id}: {step.name}: {step.why}", details.again(self.places, self.options, result, step))


def print_commands(places: Places, cells: Sequence[Cell], unchanged: Callable[[Cell], CellResult | None]) -> None:
    """Prints what would run, and on standard error what --changed would leave out."""
    cells = sorted(cells, key=lambda cell: len(cell.needs))  # It needs all that those need that it needs, and these.
    for cell in filter(unchanged, cells):
        print(f"matrix: {cell.id}: unchanged since it passed", file=sys.stderr)
    print("\n\n".join("\n".join(shell.script(places, cell)) for cell in cells if not unchanged(cell)))


def estimate(cells: Sequence[Cell], history: History, jobs: int) -> Callable[[dict[str, float], set[str]], float | None]:
    """Returns a function that estimates the seconds left from the running and finished cells; None if one hasn't passed before."""
    known = {cell.id: history.last(cell, "seconds") for cell in cells}

    def seconds(running: dict[str, float], finished: set[str]) -> float | None:
        left = [took if took is None else max(0, took - running.get(name, 0)) for name, took in known.items() if name not in finished]
        return None if None in left else sum(filter(None, left)) / jobs

    return seconds


def code(found: list[CellResult]) -> int:
    if codes := [result.code for result in found if result.code]:
        return INTERRUPTED if INTERRUPTED in codes else codes[0]
    # On CI, only optional cells are skipped, and their job did what it should.
    ran = any(result.status != "skipped" for result in found) or (found and on_ci())
    return 0 if ran else NOTHING
