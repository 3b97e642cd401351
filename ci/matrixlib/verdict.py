"""Decides how an attempt of a step ended: by the facts that are known of it, and by whether they explain its exit code."""

import dataclasses
import re

from . import diagnosis
from .processes import Ended
from .results import StepResult, Test

# What swift test, XCTest and Swift Testing end with if tests failed.
OF_FAILING_TESTS = 1


@dataclasses.dataclass
class Evidence:
    """What is known of an attempt. Each question about it is answered by a reason in one line, or an empty text."""
    result: StepResult  # with its tests, and what is wrong beside them
    reports_tests: bool
    is_shard: bool  # which may have no test
    timeout: int
    ended: Ended
    log: str
    found: str | None  # by a sanitizer
    project: str

    def __post_init__(self) -> None:
        self.running, self.failing = with_status(self.result, "running"), with_status(self.result, "failed")
        self.beside = f"; running: {names(self.running)}" if self.running else ""
        self.failed = f"failed: {names(self.failing)}" if self.failing else ""

    def unfinished(self) -> str:
        """Why it was ended before it ended by itself, and what it was doing."""
        why = f"not finished within {self.timeout} s" if self.ended.reason == "timeout" else "interrupted"
        why += self.beside or (f"; all {len(self.result.tests)} tests had ended" if self.result.tests else "")
        return why + (f"; was still running: {', '.join(self.ended.running[:3])}" if self.ended.running else "")

    def against_success(self) -> str:
        """What says that it didn't succeed though it ended with 0."""
        tests = self.result.tests
        none = f"no test was run{f': all {len(tests)} were skipped' if tests else ''}" if self.reports_tests and not self.is_shard else ""
        none = none if all(test.status == "skipped" for test in tests) else ""
        middle = f"ended in the middle of {names(self.running)}" if self.running else ""
        against = [*filter(None, (middle, self.result.finding or none, self.failed))]
        return "; ".join([*against, "exit 0"]) if against else ""

    def sanitizer(self) -> str:
        return f"{self.found}{diagnosis.place(diagnosis.OF_REPORT, self.log, self.project)}{self.beside}" if self.found else ""

    def crash(self) -> str:
        """How the process of tests ended, and in which."""
        if not (self.reports_tests and (self.running or (diagnosis.SIGNAL if self.failing else diagnosis.CRASH).search(self.log))):
            return ""
        # A test that recorded an issue while all were running is more likely to have crashed than the others.
        running = sorted(self.running, key=lambda test: not test.messages)
        why = f"crashed; running: {names(running)}" if running else "crashed outside of a test"
        if named := diagnosis.in_backtrace(self.log, running):
            why = f"crashed in {names(named)}{diagnosis.place(diagnosis.FRAME, diagnosis.backtrace(self.log), self.project)}"
        elif running and not diagnosis.CRASH.search(self.log):
            why = f"the test process ended (exit, kill or crash) in the middle of {names(running)}"
        return "; ".join(filter(None, [why, self.killed()]))

    def failures(self) -> str:
        if not (self.result.finding or self.failing):
            return ""
        unexplained = f"{self.how()}, which no failing test explains" if self.ended.code != OF_FAILING_TESTS else ""
        return "; ".join(filter(None, [self.result.finding, self.failed, unexplained]))

    def compiler(self) -> str:
        errors = diagnosis.compile_errors(self.log)
        compiles = "" if self.result.kind == "check" else "does not compile: "
        return f"{compiles}{errors[0][0]}:{errors[0][1]}: {errors[0][2]}" if errors else ""

    def killed(self) -> str:
        """What SIGKILL means if the command, or a process of its tests, got it."""
        if self.ended.code not in (-9, 137) and not re.search(r"unexpected signal code 9\b", self.log):
            return ""
        causes = {None: "which the kernel sends where memory is short, or anybody", 0: "which something other than want of memory sent"}
        return f"signal 9 (SIGKILL), {causes.get(self.ended.starved, 'for want of memory')}"

    def how(self) -> str:
        code = self.ended.code or 0
        # Few people know this one of the shell's. A pipe fails if any of its commands does.
        beside = ", SIGPIPE: what it was piped into ended before it, as head does" if code == 141 else ""
        return self.killed() or (f"exit {code}{beside}" if code >= 0 else f"signal {-code}")


def judge(evidence: Evidence) -> None:
    """Sets the result's status, and the reason: the first answer to the questions that its end raises."""
    result, ended = evidence.result, evidence.ended
    if ended.reason:
        result.status, result.why = ended.reason, evidence.unfinished()
    elif ended.code == 0:
        result.why = evidence.against_success()
        result.status = "failed" if result.why else "passed"
        result.notes += [f"exit 0, but its log has {evidence.found}"] if evidence.found else []
    elif why := evidence.sanitizer():
        result.status, result.why, result.finding = "failed", why, evidence.found or ""
    elif why := evidence.crash():
        result.status, result.why = "crashed", why
    else:
        result.status, result.why = "failed", evidence.failures() or evidence.compiler() or evidence.how()


def retriable(result: StepResult) -> list[Test]:
    """Returns the failing tests if they are the only reason why the step failed, so that running them again decides."""
    explained = result.status == "failed" and result.code == OF_FAILING_TESTS and not result.finding and not with_status(result, "running")
    return with_status(result, "failed") if explained else []


def with_status(result: StepResult, status: str) -> list[Test]:
    return [test for test in result.tests if test.status == status]


def names(tests: list[Test]) -> str:
    shown = ", ".join(test.name for test in tests[:5])
    return shown if len(tests) <= 5 else f"{shown} and {len(tests) - 5} more"
