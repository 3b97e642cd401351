"""Runs cells: those that others need before these, those that share a build folder one after the other, exclusive ones alone at the end."""

import concurrent.futures
import contextlib
import dataclasses
import fcntl
import math
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

from . import details, temporary
from .cells import STEP_KINDS, Cell, Step
from .diagnosis import plain, shown
from .problems import in_words, naming, regular
from .processes import Processes
from .requirements import missing_of, on_ci
from .results import CellResult, StepResult, read
from .screen import Screen
from .shell import Places, command
from .steps import StepRunner

# What a cell that needs this one may begin after: a flaky one's tests have passed, too.
ENOUGH = ("passed", "unchanged", "flaky")
TIMEOUT, INFRASTRUCTURE, INTERRUPTED = 124, 4, 130


class Runner:
    def __init__(self, options: Namespace, places: Places, processes: Processes, screen: Screen, unchanged: Callable[[Cell], CellResult | None]) -> None:
        self.options, self.places, self.processes, self.screen, self.unchanged = options, places, processes, screen, unchanged
        elsewhere = read(options.after) if options.after else ()
        self.results = {result.id: result for result in elsewhere}  # and of those that have ended here
        self.waiting = set[str]()  # the cells that have no result yet
        self.failed: str | None = None  # the first cell that failed
        self._built: dict[tuple[str, str, str], tuple[str, StepResult]] = {}  # the builds of this run, by folder and command: the cell, and how it ended
        self.shared: list[float] = []  # the seconds of the builds that other cells needed, too

    def run(self, cells: Sequence[Cell]) -> list[CellResult]:
        """Runs the cells; returns the results in the order of the cells."""
        left, running = sorted(cells, key=lambda cell: cell.exclusive), dict[concurrent.futures.Future[CellResult], Cell]()
        self.waiting = {cell.id for cell in cells}
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            while left or running:
                for cell in [*left]:
                    if len(running) < self.options.jobs and self.may_begin(cell, running.values()):
                        left.remove(cell)
                        running[pool.submit(self.ended, cell)] = cell
                for ended in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                    self.waiting.remove(name := running.pop(ended).id)
                    self.results[name] = ended.result()
        return [self.results[cell.id] for cell in cells]

    def may_begin(self, cell: Cell, running: Collection[Cell]) -> bool:
        """Returns whether a cell may begin beside those that run: exclusive ones, which are the last that are left, run alone."""
        beside = any(other.exclusive or other.build == cell.build for other in running)
        return not beside and not (cell.exclusive and running) and self.waiting.isdisjoint(cell.needs)

    def ended(self, cell: Cell) -> CellResult:
        result = self.cell(cell)
        if result.status == "failed":
            self.failed = self.failed or cell.id
        self.screen.ended_cell(result, details.lines(self.places, self.options, result))
        return result

    def cell(self, cell: Cell) -> CellResult:
        result = CellResult(cell.id, "skipped", axes=cell.axes)
        try:
            self.outcome(cell, result)
        except OSError as error:  # such as no space on the disk
            result.status, result.code, result.why = "failed", INFRASTRUCTURE, in_words(error)
        except Exception as error:  # A bug in ci/matrix must not lose the results of other cells.
            result.status, result.code, result.why = "failed", INFRASTRUCTURE, f"ci/matrix itself failed: {error!r}"
        return result

    def outcome(self, cell: Cell, result: CellResult) -> None:
        other = self.lacking(cell)
        if self.processes.stopped.is_set():
            not_begun(result)
        elif self.options.fail_fast and self.failed:
            result.why = f"not run, because {self.failed} failed"
        elif other and other.status != "skipped":
            result.why = f"not run, because it needs {other.id}, which {'failed' if other.status == 'failed' else f'was {other.status}'}"
        elif not other and (before := self.unchanged(cell)):
            result.status, result.why = "unchanged", "since it passed"
            result.steps, result.seconds, result.metrics = before.steps, before.seconds, before.metrics
        elif reason := f"needs {other.id}, which was skipped: {other.why}" if other else missing_of(cell, str(self.places.project)):
            impossible(cell, result, reason)
        else:
            with naming(self.places.log(cell, cell.steps[0])), self.alone(cell) as its_own:
                self.steps(cell, result) if its_own else not_begun(result)

    def lacking(self, cell: Cell) -> CellResult | None:
        """Returns the result of the first cell that this one needs and that didn't pass. Whoever runs this one alone wants it to run."""
        known = (self.results[name] for name in cell.needs if name in self.results)
        return next((result for result in known if result.status not in ENOUGH), None)

    def steps(self, cell: Cell, result: CellResult) -> None:
        result.status = "passed"
        began = time.monotonic()
        logs = self.places.logs(cell)
        say = lambda line: self.screen.say(f"{cell.id}: {line}")
        with temporary.folder(self.places.folder(cell), say) as scratch:
            temporary.removed(logs, say)
            logs.mkdir(parents=True, exist_ok=True)
            runner = StepRunner(self.places, self.processes, scratch, self.shown)
            for step in cell.steps:
                done = self.step(runner, cell, step)
                result.steps.append(done)
                if done.status not in ("passed", "flaky"):
                    break
        result.seconds = round(time.monotonic() - began, 1)
        result.metrics = self.metrics(cell)
        conclude(result)

    def step(self, runner: StepRunner, cell: Cell, step: Step) -> StepResult:
        key = (cell.build, command(self.places, cell, step), str(cell.env | step.env))
        if step.kind == "build" and key in self._built:
            owner, built = self._built[key]
            self.shared.append(built.seconds)
            return dataclasses.replace(built, name=step.name, seconds=0, log="" if built.status == "passed" else built.log, notes=[f"built for {owner}"])
        log = self.places.log(cell, step)
        self.screen.began_step(cell.id, step.name, log.relative_to(self.places.project))
        done = runner.run(cell, step)
        if step.kind == "build" and done.status in ("passed", "failed"):
            self._built[key] = (cell.id, done)
        return done

    def shown(self, cell: Cell, log: Path) -> AbstractContextManager[None]:
        """Shows what a step prints, as it comes, if --verbose asks for that."""
        return following(log, cell.id, self.screen) if self.options.verbose else contextlib.nullcontext()

    @contextlib.contextmanager
    def alone(self, cell: Cell) -> Iterator[bool]:
        """Waits for another ci/matrix that uses the same folder; yields whether this one has it now, unlike after an interrupt."""
        folder = self.places.folder(cell)
        folder.mkdir(parents=True, exist_ok=True)
        with regular(folder / "lock", "w") as file:  # The lock goes with this process, however it ends.
            its_own = locked(file)
            if not its_own:
                self.screen.say(f"{cell.id}: waits for another ci/matrix that uses {folder}")
            while not its_own and not self.processes.stopped.wait(0.5):
                its_own = locked(file)
            yield its_own

    def metrics(self, cell: Cell) -> dict[str, float]:
        found, other = {}, []
        with contextlib.suppress(FileNotFoundError), regular(self.places.metrics(cell)) as file:
            for line in file.read(1 << 20).splitlines():  # Nobody compares more numbers than that has.
                name, _, value = line.partition("=")
                number = number_in(value)
                if name and number is not None:
                    found[name] = number
                elif line.strip():
                    other.append(line)
        if other:
            self.screen.say(f"{cell.id}: left out of its metrics, for not being NAME=NUMBER: {shown(', '.join(other[:5]))}"
                            + (f" and {len(other) - 5} more" if other[5:] else ""))
        return found


def number_in(text: str) -> float | None:
    """Returns the finite number in a text; None if it isn't one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@contextlib.contextmanager
def following(log: Path, name: str, screen: Screen) -> Iterator[None]:
    """Shows the lines of a log as they come."""
    def follow() -> None:
        waits, place, rest = True, 0, b""
        while waits:
            waits = not over.wait(0.2)
            with contextlib.suppress(OSError), regular(log, "rb") as file:
                file.seek(place)
                *lines, rest = (rest + file.read()).split(b"\n")  # Not as text: a letter may be written in two pieces.
                place = file.tell()
                for line in lines if waits or not rest else [*lines, rest]:  # The last line may not be complete.
                    screen.say(f"{name} | {shown(plain(line.decode(errors='replace')))}")

    over = threading.Event()
    thread = threading.Thread(target=follow)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def locked(file: IO[str]) -> bool:
    """Tries to lock a file; returns whether this process has the lock now."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def not_begun(result: CellResult) -> None:
    result.why, result.code = "not begun, because of the interrupt", INTERRUPTED


def impossible(cell: Cell, result: CellResult, reason: str) -> None:
    result.why = reason
    if on_ci() and not cell.optional:
        result.status, result.code, result.why = "failed", INFRASTRUCTURE, f"missing requirement: {reason}"


def conclude(result: CellResult) -> None:
    """Sets the status of a cell from those of its steps."""
    for step in result.steps:
        if step.status == "passed":
            continue
        result.why = f"{step.name}: {step.why}"
        result.status = step.status if step.status in ("interrupted", "flaky") else "failed"
        result.code = {"interrupted": INTERRUPTED, "timeout": TIMEOUT, "flaky": 0}.get(step.status, STEP_KINDS[step.kind])
