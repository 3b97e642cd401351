"""Finds out which tests ran and how each ended: Swift Testing's from its event stream, XCTest's from its output."""

import collections
import contextlib
import json
import pathlib
import re

from .problems import regular
from .results import Test

XCTEST = re.compile(r"Test Case '(?:-\[(?:\w+\.)?)?(\w+)[. ](\w+)\]?' (started|passed|failed|skipped)(?: at .*|\.| \((\d+\.\d+) seconds\)\.?)$")
# The suite of all that a process runs.
XCTEST_RUN = re.compile(r"Test Suite '(?:All|Selected) tests' (started|passed|failed) at [\d :.-]+$")
# The number of messages that are kept of a test, and of characters in each.
MOST, WIDTH = 20, 20_000
# The number of lines that are kept of an XCTest message, which has no marked end: they may include what the test prints next.
LINES = 20
# The text of an error, or why a test was skipped.
XCTEST_SAID = re.compile(r"^(.*?):(\d+): (error: )?(?:-\[(?:\w+\.)?)?(\w+)[. ](\w+)\]? : (?(3)|Test skipped[ :-]*)(.*)$")
SKIPPED = re.compile(r'(?:skipped|cancelled after \S+ seconds): "(.*)"$', re.DOTALL)


def swift_testing(stream):
    """Returns the tests of an event stream, and what is wrong beside them. A test that didn't end was running when its process ended."""
    functions, tests, began, outside, over = set(), {}, {}, [], False
    for line in stream:
        try:
            record = json.loads(line)
            kind, payload = record["kind"], record["payload"]
        except (ValueError, KeyError, TypeError):
            continue  # The last line of a process that crashed may be incomplete.
        if kind == "test" and payload.get("kind") == "function":
            functions.add(payload["id"])
        name = payload.get("testID")
        if kind == "event" and name in functions:
            apply(payload, tests.setdefault(name, Test(short(name), "running")), began, name)
        elif kind == "event" and failure(payload) and not outside:
            outside.append(f"an issue outside of any test: {' '.join(text(payload).split())[:200]}")
        over = over or kind == "event" and payload["kind"] == "runEnded"
    return under_way(tests, began), outside + cut("Swift Testing", tests.values(), over)


def under_way(tests, began):
    """Returns the tests without those that only waited for their turn, if others were running: all start at once, and then wait."""
    waiting = [name for name, test in tests.items() if test.status == "running" and name not in began]
    ran = [test for name, test in tests.items() if name not in waiting]
    return ran if any(test.status == "running" for test in ran) else list(tests.values())


def apply(event, test, began, name):
    now = event.get("instant", {}).get("absolute", 0)
    what = event["kind"]
    ended_early = any(message.get("symbol") == "skip" for message in event.get("messages", []))
    if what == "testCaseStarted":
        began.setdefault(name, now)
    elif what == "testSkipped" or what == "testEnded" and ended_early:
        test.status = "skipped"
        test.messages = SKIPPED.findall(text(event))
    elif failure(event):
        place = event.get("issue", {}).get("sourceLocation") or {}
        test.file = test.file or place.get("_filePath", "")
        test.line = test.line or place.get("line", 0)
        test.messages += kept(test.messages, text(event))
    elif what == "testEnded":
        test.seconds = round(now - began.get(name, now), 3)
        test.status = "failed" if test.messages else "passed"


def failure(event):
    issue = event.get("issue", {})
    return event["kind"] == "issueRecorded" and not issue.get("isKnown") and issue.get("severity") != "warning"


def kept(messages, text):
    """Returns what is kept of another message, because a test may fail in a loop."""
    return [text[:WIDTH]] if len(messages) < MOST else ["and more"] if len(messages) == MOST else []


def text(event):
    return "\n".join(message["text"] for message in event.get("messages", []))


def short(name):
    """Returns the name without the place in the source, which is the last part of an identifier."""
    return re.sub(r"/[^/]*\.swift:\d+:\d+$", "", name)


def xctest(log):
    """Returns the tests in a log. Each time that a name starts is a new test, because targets may have classes with the same name."""
    tests, latest, messages, goes_on = [], {}, collections.defaultdict(list), None

    def note(name):
        if name in latest and (found := messages.pop(name, None)):
            latest[name].file, latest[name].line = found[0][:2]
            latest[name].messages = [text for _, _, text in found if text]

    for line in log:
        if said := XCTEST_SAID.match(line):
            found = messages[f"{said[4]}/{said[5]}"]
            found += [[said[1], int(said[2]), text] for text in kept(found, said[6])]
            goes_on = found[-1] if len(found) <= MOST else None
        elif case := XCTEST.search(line):  # Even after output without a line break.
            name = f"{case[1]}/{case[2]}"
            if case[3] == "started" or name not in latest:
                note(name)
                latest[name] = Test(name, "running")
                tests.append(latest[name])
            if case[3] != "started":
                latest[name].status, latest[name].seconds = case[3], float(case[4] or 0)
            goes_on = None
        elif goes_on and goes_on[2].count("\n") < LINES and len(goes_on[2]) < WIDTH:
            goes_on[2] = f"{goes_on[2]}\n{line.rstrip()}"[:WIDTH]
    for name in list(messages):
        note(name)
    return tests


def read(stream, log, due):
    """Returns a step's tests, and what is wrong beside them, from its event stream and its log, line by line because both may be long."""
    with lines(stream) as events, lines(log) as printed, lines(log) as again:
        tests, wrong = swift_testing(events)
        if not stream.exists():
            wrong = ["Swift Testing reported nothing: --disable-swift-testing leaves it out"] if due else []
        runs = [run[1] for run in map(XCTEST_RUN.search, again) if run]
        others = xctest(printed)
        return others + tests, wrong + cut("XCTest", others, 2 * runs.count("started") <= len(runs))


def cut(library, tests, over):
    """Returns what to say of a run that ended early, unless a test that was running says it."""
    said = over or any(test.status == "running" for test in tests)
    return [] if said else [f"{library} did not run to its end, so tests may be missing"]


def lines(file):
    return regular(file) if pathlib.Path(file).exists() else contextlib.nullcontext(())


def only(tests):
    """Returns the options with which `swift test` runs only these tests."""
    patterns = []
    for test in tests:
        swift = test.name.endswith(")")
        patterns.append(rf"^{re.escape(test.name)}(/|$)" if swift else rf"\.{re.escape(test.name)}$")
    # These characters mean themselves without an escape, too.
    return ["--filter", "|".join(patterns).replace(r"\_", "_").replace(r"\-", "-")]
