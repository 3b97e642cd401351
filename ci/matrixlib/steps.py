"""Runs one step of a cell, and runs its failing tests again if that may tell failing from flaky ones."""

import os
import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from . import diagnosis, testlog
from .cells import Cell, Step
from .problems import in_words
from .processes import Ended, Processes, said
from .results import StepResult, Test
from .shell import SHELL, Places, command, contained, environment, own
from .verdict import Evidence, judge, names, retriable, with_status

# More failures than this at once aren't flakes, and running each again would take long.
RETRIED_AT_ONCE = 20


class StepRunner:
    def __init__(self, places: Places, processes: Processes, temporary: str, shown: Callable[[Cell, Path], AbstractContextManager[None]]) -> None:
        self.places, self.processes, self.temporary, self.shown = places, processes, temporary, shown

    def attempt(self, cell: Cell, step: Step, number: int = 0, tests: list[str] | None = None) -> StepResult:
        log, text = self.places.log(cell, step, number), command(self.places, cell, step, number, tests)
        ended = self.ended(cell, step, log, text)
        result = StepResult(step.name, step.kind, "passed", round(ended.seconds, 2), ended.code, str(log.relative_to(self.places.project)))
        result.notes = notes(ended)
        found = self.read(result, step, text, log, self.places.events(cell, step, number))
        printed = diagnosis.plain(diagnosis.read(log))
        is_shard = bool(cell.shard) and step.kind == "test"
        judge(Evidence(result, step.takes("report"), is_shard, step.timeout, ended, printed, found, str(self.places.project)))
        if is_shard and result.status == "passed" and not result.tests:
            result.notes.append(f"no test of it is in shard {cell.shard}")
        return result

    def ended(self, cell: Cell, step: Step, log: Path, text: str) -> Ended:
        """Runs a command, and returns how it ended."""
        log.parent.mkdir(parents=True, exist_ok=True)
        events = log.with_suffix(".events")
        for file in (log, events, testlog.xunit(events)):
            file.unlink(missing_ok=True)
        log.write_text(f"$ {text}\n", errors="surrogateescape")  # An argument may not be valid text.
        values = environment(self.places, cell) | own(self.places, step.env) | {"TMPDIR": self.temporary}
        with self.shown(cell, log), contained(self.places, cell, [*SHELL, "-c", text], values) as words:
            ended = self.processes.run(words, os.environ | values, self.places.project, step.timeout, log)
        if ended.problem:  # Its log and its tests' reports may be incomplete.
            raise OSError(ended.problem, os.strerror(ended.problem), str(log))
        return ended

    def read(self, result: StepResult, step: Step, text: str, log: Path, events: Path) -> str | None:
        """Reads how each test went into the result; returns what a sanitizer found."""
        try:
            if step.takes("report"):
                silent = result.code == 0 and not events.exists() and "--disable-swift-testing" not in text
                result.tests, wrong = testlog.read(events, log, silent and runs_swift_testing(package(self.places, text)))
                result.finding = "; ".join(wrong)
            with testlog.lines(log) as printed:  # Reads all lines, because a test that fails because of a race isn't flaky.
                return diagnosis.sanitizer(printed)[0]
        except OSError as error:  # It put something else in the place of a file.
            result.finding = in_words(error)
            return None

    def run(self, cell: Cell, step: Step) -> StepResult:
        result = self.attempt(cell, step)
        failing = retriable(result)
        if cell.retries and 0 < len(failing) <= RETRIED_AT_ONCE:
            self.retry(cell, step, result, failing)
        return result

    def retry(self, cell: Cell, step: Step, result: StepResult, failing: list[Test]) -> None:
        """Runs failing tests again, and once they passed, all tests: what fails whenever all run isn't flaky, though it passes alone."""
        if not (number := self.alone(cell, step, result)):
            return
        if still := with_status(result, "failed"):
            result.why = f"failed {cell.retries + 1} times: {names(still)}"
            return
        again = self.attempt(cell, step, number + 1)
        if again.status == "passed":
            result.status, result.why = "flaky", f"flaky: {names(failing)}"
            return
        differs(result, again, number + 1)
        result.finding = f"all tests again: {again.why}"
        result.why += f", which passed alone; {result.finding}"
        lasting = {test.name for test in with_status(again, "failed")}
        for test in failing:
            test.status = "failed" if test.name in lasting else "flaky"

    def alone(self, cell: Cell, step: Step, result: StepResult) -> int:
        """Runs failing tests alone until each has passed, as often as the cell says; returns how often, or 0 if it ended in another way."""
        number = 0
        while number < cell.retries and (still := with_status(result, "failed")):
            number += 1
            again = self.attempt(cell, step, number, testlog.only(still))
            if again.status != "passed" and not retriable(again):
                differs(result, again, number)
                return 0
            # Tests with the same name in several files are run again together, and all of them have to pass.
            passed = {test.name for test in again.tests} - {test.name for test in again.tests if test.status != "passed"}
            for test in still:
                if test.name in passed:
                    test.status = "flaky"
                    test.messages.append(f"passed in attempt {number + 1}")
        return number


def notes(ended: Ended) -> list[str]:
    """Returns what there is to say of a command's processes."""
    found = [f"left processes behind, which were ended: {', '.join(ended.left)}"] if ended.left else []
    found += [f"the kernel ended {ended.starved} processes for want of memory meanwhile"] if ended.starved else []
    return found + ([f"processes that could not be ended: {', '.join(ended.unkillable)}"] if ended.unkillable else [])


def package(places: Places, command: str) -> Path:
    """Returns the folder of the package that a command tests."""
    try:
        words = shlex.split(command.replace("--package-path=", "--package-path "))
        return places.project / words[words.index("--package-path") + 1]
    except (ValueError, IndexError):  # It names none, or is no list of words.
        return places.project


def runs_swift_testing(project: Path) -> bool:
    """Returns whether `swift test` runs Swift Testing: in packages for Swift 5.9 or newer without a main file, which starts XCTest alone."""
    if any((project / "Tests" / name).exists() for name in ("LinuxMain.swift", "XCTMain.swift")):
        return False
    version = (said("swift", "package", "tools-version", cwd=project) or "6.0").strip().split(".")
    return [int(part) for part in version if part.isdigit()] >= [5, 9]


def differs(result: StepResult, again: StepResult, number: int) -> None:
    """Notes why an attempt failed that had to pass, or to fail only where the tests did before."""
    result.notes.append(f"attempt {number + 1}: {again.why} ({again.log})")
    if again.status == "interrupted":
        result.status = "interrupted"
