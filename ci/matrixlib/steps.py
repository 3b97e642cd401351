"""Runs one step of a cell, and runs its failing tests again if that may tell failing from flaky ones."""

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from . import diagnosis, testlog
from .cells import Cell, Step
from .problems import in_words
from .processes import Processes, said
from .results import StepResult, Test
from .shell import SHELL, Places, command, contained, environment, own
from .verdict import Evidence, judge, names, retriable, with_status

# More failures than this at once aren't flakes, and running each again would take long.
RETRIED_AT_ONCE = 20


class StepRunner:
    def __init__(self, places: Places, processes: Processes, temporary: str, shown: Callable[[Cell, Path], AbstractContextManager[None]]) -> None:
        self.places, self.processes, self.temporary, self.shown = places, processes, temporary, shown

    def attempt(self, cell: Cell, step: Step, number: int = 0, tests: list[str] | None = None) -> StepResult:
        log, events = self.places.log(cell, step, number), self.places.events(cell, step, number)
        log.parent.mkdir(parents=True, exist_ok=True)
        for file in (log, events, testlog.xunit(events)):
            file.unlink(missing_ok=True)
        text = command(self.places, cell, step, number, tests)
        log.write_text(f"$ {text}\n", errors="surrogateescape")  # An argument may not be valid text.
        values = environment(self.places, cell) | own(self.places, step.env) | {"TMPDIR": self.temporary}
        with self.shown(cell, log), contained(self.places, cell, [*SHELL, "-c", text], values) as words:
            ended = self.processes.run(words, os.environ | values, self.places.project, step.timeout, log)
        if ended.problem:  # Its log and its tests' reports may be incomplete.
            raise OSError(ended.problem, os.strerror(ended.problem), str(log))
        result = StepResult(step.name, step.kind, "passed", round(ended.seconds, 2), ended.code, str(log.relative_to(self.places.project)))
        found: str | None = None
        try:
            if step.reports_tests:
                due = ended.code == 0 and not events.exists() and "--disable-swift-testing" not in text and runs_swift_testing(package(self.places, text))
                result.tests, wrong = testlog.read(events, log, due)
                result.finding = "; ".join(wrong)
            with testlog.lines(log) as printed:  # Reads all lines, because a test that fails because of a race isn't flaky.
                found, _ = diagnosis.sanitizer(printed)
        except OSError as error:  # It put something else in the place of a file.
            result.finding = in_words(error)
        if ended.left:
            result.notes.append(f"left processes behind, which were ended: {', '.join(ended.left)}")
        if ended.starved:
            result.notes.append(f"the kernel ended {ended.starved} processes for want of memory meanwhile")
        if ended.unkillable:
            result.notes.append(f"processes that could not be ended: {', '.join(ended.unkillable)}")
        printed = diagnosis.plain(diagnosis.read(log))
        is_shard = bool(cell.shard) and step.kind == "test"
        judge(Evidence(result, step.reports_tests, is_shard, step.timeout, ended, printed, found, str(self.places.project)))
        if is_shard and result.status == "passed" and not result.tests:
            result.notes.append(f"no test of it is in shard {cell.shard}")
        return result

    def run(self, cell: Cell, step: Step) -> StepResult:
        result = self.attempt(cell, step)
        failing = retriable(result)
        if cell.retries and 0 < len(failing) <= RETRIED_AT_ONCE:
            self.retry(cell, step, result, failing)
        return result

    def retry(self, cell: Cell, step: Step, result: StepResult, failing: list[Test]) -> None:
        """Runs failing tests again, and once they passed, all tests: what fails whenever all run isn't flaky, though it passes alone.

        The first failure is still shown; tests that pass later are flaky, which doesn't count as passed.
        """
        still, number = failing, 0
        while still and number < cell.retries:
            number += 1
            again = self.attempt(cell, step, number, testlog.only(still))
            if again.status != "passed" and not retriable(again):
                return differs(result, again, number)
            # Tests with the same name in several files are run again together, and all of them have to pass.
            passed = {test.name for test in again.tests} - {test.name for test in again.tests if test.status != "passed"}
            for test in still:
                if test.name in passed:
                    test.status = "flaky"
                    test.messages.append(f"passed in attempt {number + 1}")
            still = with_status(result, "failed")
        if still:
            result.why = f"failed {cell.retries + 1} times: {names(still)}"
            return
        again = self.attempt(cell, step, number + 1)
        if again.status == "passed":
            result.status, result.why = "flaky", f"flaky: {names(failing)}"
            return
        differs(result, again, number + 1)
        result.finding = f"all tests again: {again.why}"
        result.why += f", which passed alone; {result.finding}"
        lasting = {test.name for test in again.tests if test.status == "failed"}
        for test in failing:
            test.status = "failed" if test.name in lasting else "flaky"


def package(places: Places, command: str) -> Path:
    """Returns the folder of the package that a command tests."""
    named = re.search(r"--package-path[ =](\S+)", command)
    return places.project / named[1].strip("'\"") if named else places.project


def runs_swift_testing(project: Path) -> bool:
    """Returns whether `swift test` runs Swift Testing if nothing is said: in packages for Swift 5.9 or newer, since it is made of macros, and
    without a main file of their own, which starts XCTest alone.
    """
    if any((project / "Tests" / name).exists() for name in ("LinuxMain.swift", "XCTMain.swift")):
        return False
    version = (said("swift", "package", "tools-version", cwd=project) or "6.0").strip().split(".")
    return [int(part) for part in version if part.isdigit()] >= [5, 9]


def differs(result: StepResult, again: StepResult, number: int) -> None:
    """Notes why an attempt failed that had to pass, or to fail only where the tests did before."""
    result.notes.append(f"attempt {number + 1}: {again.why} ({again.log})")
    if again.status == "interrupted":
        result.status = "interrupted"
