"""Which tests ran and how each ended: Swift Testing's from its event stream, XCTest's from what was printed."""

import collections
import contextlib
import json
import pathlib
import re

from .results import Test

XCTEST = re.compile(r"Test Case '(?:-\[(?:\w+\.)?)?(\w+)[. ](\w+)\]?' (started|passed|failed|skipped)(?: at .*|\.| \((\d+\.\d+) seconds\)\.?)$")
# The messages that are kept of a test, and the characters of each.
MOST, WIDTH = 20, 20_000
# The lines that are kept of a message of XCTest's, which has no end: what the test prints next may be among them.
LINES = 20
# An error's text, or why it was skipped.
XCTEST_SAID = re.compile(r"^(.*?):(\d+): (error: )?(?:-\[(?:\w+\.)?)?(\w+)[. ](\w+)\]? : (?(3)|Test skipped[ :-]*)(.*)$")
SKIPPED = re.compile(r'skipped: "(.*)"$', re.DOTALL)


def swift_testing(stream):
    """The tests of an event stream, and the issues that are no test's. One that started and didn't end was running when its process did."""
    functions, tests, began, outside = set(), {}, {}, []
    for line in stream:
        try:
            record = json.loads(line)
            kind, payload = record["kind"], record["payload"]
        except (ValueError, KeyError, TypeError):
            continue  # The last line of a process that crashed may be half a line.
        if kind == "test" and payload.get("kind") == "function":
            functions.add(payload["id"])
        name = payload.get("testID")
        if kind == "event" and name in functions:
            apply(payload, tests.setdefault(name, Test(short(name), "running")), began, name)
        elif kind == "event" and failure(payload):
            outside.append(text(payload))
    return under_way(tests, began), outside


def under_way(tests, began):
    """Without those that had not ended because their turn had not come, where others ran: all start at once, and wait for it."""
    waiting = [name for name, test in tests.items() if test.status == "running" and name not in began]
    ran = [test for name, test in tests.items() if name not in waiting]
    return ran if any(test.status == "running" for test in ran) else list(tests.values())


def apply(event, test, began, name):
    now = event.get("instant", {}).get("absolute", 0)
    what = event["kind"]
    if what == "testCaseStarted":
        began.setdefault(name, now)
    elif what == "testSkipped":
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
    """What is kept of another message: a test may fail in a loop."""
    return [text[:WIDTH]] if len(messages) < MOST else ["and more"] if len(messages) == MOST else []


def text(event):
    return "\n".join(message["text"] for message in event.get("messages", []))


def short(name):
    """The name without the place in the source, which is the last part of an identifier."""
    return re.sub(r"/[^/]*\.swift:\d+:\d+$", "", name)


def xctest(log):
    """A test begins each time that its name does: targets may have classes of one name."""
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
        elif case := XCTEST.search(line):  # Behind what a test printed without an end of the line, too.
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


def read(stream, log):
    """All tests of a step, and issues outside of them, given the files of its event stream and its log; line by line, as both may be long."""
    with lines(stream) as events, lines(log) as printed:
        tests, outside = swift_testing(events)
        return xctest(printed) + tests, outside


def lines(file):
    return open(file, errors="replace") if pathlib.Path(file).exists() else contextlib.nullcontext(())


def only(tests):
    """The options with which `swift test` runs just these."""
    patterns = []
    for test in tests:
        swift = test.name.endswith(")")
        patterns.append(rf"^{re.escape(test.name)}(/|$)" if swift else rf"\.{re.escape(test.name)}$")
    # What re.escape escapes beside these means itself without it.
    return ["--filter", "|".join(patterns).replace(r"\_", "_").replace(r"\-", "-")]
