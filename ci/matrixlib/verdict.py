"""Decides how an attempt of a step ended: by the facts that are known of it, and by whether they explain its exit code."""

from . import diagnosis

# What swift test, XCTest and Swift Testing end with if tests failed.
OF_FAILING_TESTS = 1
# Explanations for exit codes of the shell that few people know. A pipe fails if any of its commands does.
EXITS = {141: ", SIGPIPE: what it was piped into ended before it, as head does"}


def judge(result, step, ended, log, found, project):
    """Sets the result's status, and the reason in one line; `found` is what a sanitizer found."""
    running, failing = with_status(result, "running"), with_status(result, "failed")
    beside = f"; running: {names(running)}" if running else ""
    failed = failing and f"failed: {names(failing)}"
    how = f"exit {ended.code}{EXITS.get(ended.code, '')}" if (ended.code or 0) >= 0 else f"signal {-ended.code}"
    how = diagnosis.killed(ended.code, log) or how
    result.status = "failed"
    if ended.reason:
        result.status, result.why = ended.reason, unfinished(result, step, ended, beside)
    elif ended.code == 0:
        none = step.reports_tests and all(test.status == "skipped" for test in result.tests)
        none = none and "no test was run" + (f": all {len(result.tests)} were skipped" if result.tests else "")
        against = [running and f"ended in the middle of {names(running)}", result.finding or none, failed]
        result.status = "failed" if any(against) else "passed"
        result.why = "; ".join([*filter(None, against), "exit 0"]) if any(against) else ""
    elif found:
        result.why, result.finding = found + diagnosis.place(diagnosis.OF_REPORT, log, project) + beside, found
    elif step.reports_tests and (running or (diagnosis.SIGNAL if failing else diagnosis.CRASH).search(log)):
        result.status, result.why = "crashed", crash(running, ended, log, project)
    elif result.finding or failing:
        unexplained = how + ", which no failing test explains" if ended.code != OF_FAILING_TESTS else ""
        result.why = "; ".join(filter(None, [result.finding, failed, unexplained]))
    elif errors := diagnosis.compile_errors(log):
        result.why = ("" if step.kind == "check" else "does not compile: ") + f"{errors[0][0]}:{errors[0][1]}: {errors[0][2]}"
    else:
        result.why = how


def unfinished(result, step, ended, beside):
    """Returns why a step was ended before it ended by itself, and what it was doing."""
    why = f"not finished within {step.timeout} s" if ended.reason == "timeout" else "interrupted"
    why += beside or (f"; all {len(result.tests)} tests had ended" if result.tests else "")
    return why + (f"; was still running: {', '.join(ended.running[:3])}" if ended.running else "")


def crash(running, ended, log, project):
    """Returns how the process of tests ended, and in which."""
    # A test that recorded an issue while all were running is more likely to have crashed than the others.
    running = sorted(running, key=lambda test: not test.messages)
    why = f"crashed; running: {names(running)}" if running else "crashed outside of a test"
    if named := diagnosis.in_backtrace(log, running):
        why = f"crashed in {names(named)}{diagnosis.place(diagnosis.FRAME, diagnosis.backtrace(log), project)}"
    elif running and not diagnosis.CRASH.search(log):
        why = f"the test process ended (exit, kill or crash) in the middle of {names(running)}"
    return "; ".join(filter(None, [why, diagnosis.killed(ended.code, log)]))


def retriable(result):
    """Returns the failing tests if they are the only reason why the step failed, so that running them again decides."""
    explained = result.status == "failed" and result.code == OF_FAILING_TESTS and not result.finding and not with_status(result, "running")
    return with_status(result, "failed") if explained else []


def with_status(result, status):
    return [test for test in result.tests if test.status == status]


def names(tests):
    shown = ", ".join(test.name for test in tests[:5])
    return shown if len(tests) <= 5 else f"{shown} and {len(tests) - 5} more"
