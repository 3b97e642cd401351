"""Runs one step of a cell, and runs its failing tests again if that may tell failing from flaky ones."""

import os

from . import diagnosis, testlog
from .results import StepResult
from .shell import SHELL, command, environment, own

# More failures than this at once aren't flakes, and running each again would take long.
RETRIED_AT_ONCE = 20
# Explanations for exit codes of the shell that few people know. A pipe fails if any of its commands does.
EXITS = {141: ", SIGPIPE: what it was piped into ended before it, as head does"}


class StepRunner:
    def __init__(self, places, processes, temporary, shown):
        self.places, self.processes, self.temporary, self.shown = places, processes, temporary, shown

    def attempt(self, cell, step, number=0, tests=None):
        log, events = self.places.log(cell, step, number), self.places.events(cell, step, number)
        log.parent.mkdir(parents=True, exist_ok=True)
        for file in (log, events):
            file.unlink(missing_ok=True)
        text = command(self.places, cell, step, number, tests)
        log.write_text(f"$ {text}\n", errors="surrogateescape")  # An argument may not be valid text.
        values = os.environ | environment(self.places, cell) | own(self.places, step.env) | {"TMPDIR": self.temporary}
        with self.shown(cell, log):
            ended = self.processes.run([*SHELL, "-c", text], values, self.places.project, step.timeout, log)
        if ended.problem:  # Its log and its tests' reports may be incomplete.
            raise OSError(ended.problem, os.strerror(ended.problem), str(log))
        result = StepResult(step.name, step.kind, "passed", round(ended.seconds, 2), ended.code, str(log.relative_to(self.places.project)))
        if step.reports_tests:
            result.tests, outside = testlog.read(events, log)
            result.finding = "an issue outside of any test: " + " ".join(outside[0].split())[:200] if outside else ""
        if ended.left:
            result.notes.append(f"left processes behind, which were ended: {', '.join(ended.left)}")
        if ended.starved:
            result.notes.append(f"the kernel ended {ended.starved} processes for want of memory meanwhile")
        if ended.unkillable:
            result.notes.append(f"processes that could not be ended: {', '.join(ended.unkillable)}")
        with testlog.lines(log) as printed:  # Reads all lines, because a test that fails because of a race isn't flaky.
            found, _ = diagnosis.sanitizer(printed)
        judge(result, step, ended, diagnosis.plain(diagnosis.read(log)), found, self.places.project)
        return result

    def run(self, cell, step):
        result = self.attempt(cell, step)
        failing = retriable(result)
        if cell.retries and 0 < len(failing) <= RETRIED_AT_ONCE:
            self.retry(cell, step, result, failing)
        return result

    def retry(self, cell, step, result, failing):
        """Runs failing tests again. The first failure is still shown; tests that pass later are flaky, which doesn't count as passed."""
        still = failing
        for number in range(1, cell.retries + 1):
            again = self.attempt(cell, step, number, testlog.only(still))
            # Tests with the same name in several files are run again together, and all of them have to pass.
            passed = {test.name for test in again.tests} - {test.name for test in again.tests if test.status != "passed"}
            if again.status != "passed" and not retriable(again):
                result.notes.append(f"attempt {number + 1}: {again.why or again.status}")
                if again.status == "interrupted":
                    result.status = "interrupted"
                return
            for test in still:
                if test.name in passed:
                    test.status = "flaky"
                    test.messages.append(f"passed in attempt {number + 1}")
            still = [test for test in still if test.status == "failed"]
            if not still:
                result.status = "flaky"
                result.why = f"flaky: {names(failing)}"
                return
        result.why = f"failed {cell.retries + 1} times: {names(still)}"


def retriable(result):
    """Returns the failing tests if they are the only reason why the step failed, so that running them again decides."""
    others = result.status != "failed" or result.finding or with_status(result, "running")
    return [] if others else with_status(result, "failed")


def with_status(result, status):
    return [test for test in result.tests if test.status == status]


def names(tests):
    shown = ", ".join(test.name for test in tests[:5])
    return shown if len(tests) <= 5 else f"{shown} and {len(tests) - 5} more"


def judge(result, step, ended, log, found, project):
    """Sets the result's status, and the reason in one line; `found` is what a sanitizer found."""
    running, failing = with_status(result, "running"), with_status(result, "failed")
    beside = f"; running: {names(running)}" if running else ""
    result.status = "failed"
    if ended.reason:
        result.status = ended.reason
        result.why = f"not finished within {step.timeout} s" if ended.reason == "timeout" else "interrupted"
        result.why += beside or (f"; all {len(result.tests)} tests had ended" if result.tests else "")
        if ended.running:
            result.why += f"; was still running: {', '.join(ended.running[:3])}"
    elif ended.code == 0 and result.finding:
        result.why = f"ended well, but there is {result.finding}"
    elif ended.code == 0 and step.reports_tests and all(test.status == "skipped" for test in result.tests):
        result.why = "no test was run" + (f": all {len(result.tests)} were skipped" if result.tests else "")
    elif ended.code == 0 and running:
        result.why = f"ended in the middle of {names(running)}"
    elif ended.code == 0 and failing:
        result.why = f"ended well, but these failed: {names(failing)}"
    elif ended.code == 0:
        result.status = "passed"
    elif found:
        result.why, result.finding = found + diagnosis.place(diagnosis.OF_REPORT, log, project) + beside, found
    elif step.reports_tests and (running or (diagnosis.SIGNAL if failing else diagnosis.CRASH).search(log)):
        result.status = "crashed"
        # A test that recorded an issue while all were running is more likely to have crashed than the others.
        running = sorted(running, key=lambda test: not test.messages)
        named = diagnosis.in_backtrace(log, running)
        if named:
            result.why = f"crashed in {names(named)}{diagnosis.place(diagnosis.FRAME, diagnosis.backtrace(log), project)}"
        elif running and not diagnosis.CRASH.search(log):
            result.why = f"the test process ended (exit, kill or crash) in the middle of {names(running)}"
        else:
            result.why = f"crashed; running: {names(running)}" if running else "crashed outside of a test"
        if how := diagnosis.killed(ended.code, log):
            result.why += f"; {how}"
    elif result.finding or failing:
        result.why = "; ".join(filter(None, [result.finding, failing and f"failed: {names(failing)}"]))
    elif errors := diagnosis.compile_errors(log):
        result.why = ("" if step.kind == "check" else "does not compile: ") + f"{errors[0][0]}:{errors[0][1]}: {errors[0][2]}"
    else:
        in_words = f"signal {-ended.code}" if ended.code < 0 else f"exit {ended.code}{EXITS.get(ended.code, '')}"
        result.why = diagnosis.killed(ended.code, log) or in_words
