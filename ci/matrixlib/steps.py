"""Runs one step of a cell, and runs its failing tests again if that may tell failing from flaky ones."""

import contextlib
import dataclasses
import itertools
import os
import shlex
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from . import diagnosis, testlog
from .cells import Cell, Step
from .problems import in_words, regular
from .processes import Ended, Processes, said
from .results import StepResult, Test
from .shell import SHELL, Places, command, contained, environment, own
from .verdict import Evidence, judge, names, retriable, with_status

# More failures than this at once aren't flakes, and running each again would take long.
RETRIED_AT_ONCE = 20


class StepRunner:
    """Runs steps; `say`, if it isn't None, is told what they print, as it comes."""

    def __init__(self, places: Places, processes: Processes, temporary: str, say: Callable[[str], object] | None) -> None:
        self.places, self.processes, self.temporary, self.say = places, processes, temporary, say

    def attempt(self, cell: Cell, step: Step, number: int = 0, tests: list[str] | None = None) -> StepResult:
        log, text = self.places.log(cell, step, number), command(self.places, cell, step, number, tests)
        ended = self.ended(cell, step, log, text)
        result = StepResult(step.name, step.kind, "passed", round(ended.seconds, 2), ended.code, str(log.relative_to(self.places.project)))
        notes = {
            f"left processes behind, which were ended: {', '.join(ended.left)}": ended.left,
            f"the kernel ended {ended.starved} processes for want of memory meanwhile": ended.starved,
            f"processes that could not be ended: {', '.join(ended.unkillable)}": ended.unkillable}
        result.notes = [note for note, is_so in notes.items() if is_so]
        found = self.read(result, step, text, log)
        printed = diagnosis.plain(diagnosis.read(log).removeprefix(f"$ {text}\n"))
        is_shard = bool(cell.shard) and step.kind == "test"
        judge(Evidence(result, step.takes("report"), is_shard, step.timeout, ended, printed, found, str(self.places.project)))
        if is_shard and result.status == "passed" and not result.tests:
            result.notes.append(f"no test of it is in shard {cell.shard}")
        return result

    def ended(self, cell: Cell, step: Step, log: Path, text: str) -> Ended:
        log.parent.mkdir(parents=True, exist_ok=True)
        for file in (log, log.with_suffix(".events"), log.with_suffix(".xml")):
            file.unlink(missing_ok=True)
        log.write_text(f"$ {text}\n", errors="surrogateescape")  # An argument may not be valid text.
        values = environment(self.places, cell) | own(self.places, step.env) | {"TMPDIR": self.temporary}
        showing = following(log, cell.id, self.say) if self.say else contextlib.nullcontext()
        with showing, contained(self.places, cell, [*SHELL, "-c", text], values) as words:
            ended = self.processes.run(words, os.environ | values, self.places.project, step.timeout, log)
        if ended.problem:  # Its log and its tests' reports may be incomplete.
            raise OSError(ended.problem, os.strerror(ended.problem), str(log))
        return ended

    def read(self, result: StepResult, step: Step, text: str, log: Path) -> str | None:
        """Reads how each test went into the result; returns what a sanitizer found."""
        events = log.with_suffix(".events")
        try:
            if step.takes("report"):
                silent = result.code == 0 and not events.exists() and "--disable-swift-testing" not in text
                result.tests, wrong = testlog.read(events, log, silent and self.runs_swift_testing(text))
                result.finding = "; ".join(wrong)
            with testlog.lines(log) as printed:  # Reads all lines, because a test that fails because of a race isn't flaky.
                return diagnosis.sanitizer(itertools.islice(printed, text.count("\n") + 1, None))[0]  # but not the command
        except OSError as error:  # It put something else in the place of a file.
            result.finding = in_words(error)
            return None

    def runs_swift_testing(self, command: str) -> bool:
        """Returns whether `swift test` runs Swift Testing: for Swift 5.9 or newer, without a main file, which starts XCTest alone."""
        package = self.places.project
        with contextlib.suppress(ValueError, IndexError):  # It names none, or is no list of words.
            words = shlex.split(command.replace("--package-path=", "--package-path "))
            package /= words[words.index("--package-path") + 1]
        if any((package / "Tests" / name).exists() for name in ("LinuxMain.swift", "XCTMain.swift")):
            return False
        version = (said("swift", "package", "tools-version", cwd=package) or "6.0").strip().split(".")
        return [int(part) for part in version if part.isdigit()] >= [5, 9]

    def run(self, cell: Cell, step: Step) -> StepResult:
        """Runs a step, and its failing tests alone, as often as the cell says; those that pass are flaky if all tests then pass together."""
        result = self.attempt(cell, step)
        if cell.shard and step.kind == "test" and result.status == "passed" and not with_run(result):
            # Either there are few tests, or there are none, in which case each shard would pass.
            whole = self.attempt(dataclasses.replace(cell, shard=""), step, 1)
            return result if with_run(whole) else whole
        failing = still = retriable(result)
        if not cell.retries or not 0 < len(failing) <= RETRIED_AT_ONCE:
            return result
        number = 0
        while still and number < cell.retries:
            number += 1
            again = self.attempt(cell, step, number, testlog.only(still))
            if again.status != "passed" and not retriable(again):
                return differing(result, again, number)
            still = lasting(still, again, number)
        if still:
            result.why = f"failed {cell.retries + 1} times: {names(still)}"
            return result
        again = self.attempt(cell, step, number + 1)
        if again.status == "passed":
            result.status, result.why = "flaky", f"flaky: {names(failing)}"
            return result
        result.finding = f"all tests again: {again.why}"
        result.why += f", which passed alone; {result.finding}"
        failed = {test.name for test in with_status(again, "failed")}
        for test in failing:
            test.status = "failed" if test.name in failed else "flaky"
        return differing(result, again, number + 1)


@contextlib.contextmanager
def following(log: Path, name: str, say: Callable[[str], object]) -> Iterator[None]:
    def follow() -> None:
        waits, place, rest = True, 0, b""
        while waits:
            waits = not over.wait(0.2)
            with contextlib.suppress(OSError), regular(log, "rb") as file:
                file.seek(place)
                *lines, rest = (rest + file.read()).split(b"\n")  # Not as text: a letter may be written in two pieces.
                place = file.tell()
                for line in lines if waits or not rest else [*lines, rest]:  # The last line may not be complete.
                    say(f"{name} | {diagnosis.shown(diagnosis.plain(line.decode(errors='replace')))}")

    over = threading.Event()
    thread = threading.Thread(target=follow)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def with_run(result: StepResult) -> list[Test]:
    return [test for test in result.tests if test.status != "skipped"]


def lasting(tests: list[Test], again: StepResult, number: int) -> list[Test]:
    """Returns the tests that failed again. Those of one name in several files are run again together, and all of them have to pass."""
    for test in tests:
        if {other.status for other in again.tests if other.name == test.name} == {"passed"}:
            test.status = "flaky"
            test.messages.append(f"passed in attempt {number + 1}")
    return [test for test in tests if test.status == "failed"]


def differing(result: StepResult, again: StepResult, number: int) -> StepResult:
    """Notes why an attempt failed that had to pass, or to fail only where the tests did before."""
    result.notes.append(f"attempt {number + 1}: {again.why} ({again.log})")
    if again.status == "interrupted":
        result.status = "interrupted"
    return result
