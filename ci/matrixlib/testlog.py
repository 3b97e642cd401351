"""Finds out which tests ran and how each ended: Swift Testing's from its event stream, XCTest's from its output."""

from __future__ import annotations  # Older Pythons read this, too.

import contextlib
import json
import os
import pathlib
import re
import xml.etree.ElementTree as xml
from typing import Any, ContextManager, Iterable

from .problems import StrPath, regular
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


def swift_testing(stream: Iterable[str]) -> tuple[list[Test], list[str]]:
    """Returns the tests of an event stream, and what is wrong beside them. A test that didn't end was running when its process ended."""
    functions, tests, began, outside, over = set[str](), dict[str, Test](), dict[str, float](), list[str](), False
    for line in stream:
        try:
            record = json.loads(line)
            kind, payload = record["kind"], record["payload"]
            if kind == "test" and payload.get("kind") == "function":
                functions.add(payload["id"])
            name = payload.get("testID")
            if kind == "event" and name in functions:
                short = re.sub(r"/[^/]*\.swift:\d+:\d+$", "", name)  # without its place in the source
                apply(payload, tests.setdefault(name, Test(short, "running")), began, name)
            elif kind == "event" and failure(payload) and not outside:
                outside.append(f"an issue outside of any test: {' '.join(text(payload).split())[:200]}")
            over = over or kind == "event" and payload["kind"] == "runEnded"
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue  # The last line of a process that crashed may be incomplete, and a test may write to the file.
    # All tests start at once, and then wait for their turn: where others were running, those that waited didn't run.
    ran = [test for name, test in tests.items() if test.status != "running" or name in began]
    found = ran if any(test.status == "running" for test in ran) else list(tests.values())
    return found, outside + cut("Swift Testing", tests.values(), over)


def apply(event: dict[str, Any], test: Test, began: dict[str, float], name: str) -> None:
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


def failure(event: dict[str, Any]) -> bool:
    issue = event.get("issue", {})
    return event["kind"] == "issueRecorded" and not issue.get("isKnown") and issue.get("severity") != "warning"


def kept(messages: list[str], text: str) -> list[str]:
    """Returns what is kept of another message, because a test may fail in a loop."""
    return [text[:WIDTH]] if len(messages) < MOST else ["and more"] if len(messages) == MOST else []


def text(event: dict[str, Any]) -> str:
    return "\n".join(message["text"] for message in event.get("messages", []))


class Printed:
    """The tests in a log of XCTest's. Each time that a name starts is a new test, because targets may have classes with the same name.
    Tests run one after the other: what looks like another one's beginning or end in the middle of one, or outside of a run, is only printed."""

    def __init__(self) -> None:
        self.tests = list[Test]()
        self.runs = list[str]()  # how each run began and ended, as far as none of it was printed by a test
        self.began = 0  # the number of these when the last test began
        self.goes_on = False  # the last message, over more lines

    def take(self, line: str) -> None:
        last, in_run = self.tests[-1] if self.tests else Test("", ""), self.runs[-1:] == ["started"]
        case = XCTEST.search(line)  # Even after output without a line break.
        name, what = (f"{case[1]}/{case[2]}", case[3]) if case else ("", "")
        if last.status != "running" and not in_run and not XCTEST_RUN.search(line):
            return
        if case and name == last.name and what != "started":
            last.status, last.seconds = what, float(case[4] or 0)
            del self.runs[self.began:]
        elif run := XCTEST_RUN.search(line):
            self.runs.append(run[1])
        elif said := XCTEST_SAID.match(line):
            if f"{said[4]}/{said[5]}" == last.name:
                last.file, last.line = (last.file, last.line) if last.file else (said[1], int(said[2]))
                self.goes_on = len(last.messages) < MOST
                last.messages += kept(last.messages, said[6])
            return
        elif what == "started" and in_run and (last.status != "running" or self.began != len(self.runs)):
            self.tests.append(Test(name, "running"))
            self.began = len(self.runs)
        elif self.goes_on and last.messages[-1].count("\n") < LINES and len(last.messages[-1]) < WIDTH:
            last.messages[-1] = f"{last.messages[-1]}\n{line.rstrip()}"[:WIDTH]
            return
        self.goes_on = False


def xctest(log: Iterable[str]) -> tuple[list[Test], list[str]]:
    """Returns the tests in a log, and what is wrong beside them."""
    printed = Printed()
    for line in log:
        printed.take(line)
    for test in printed.tests:
        test.messages = [*filter(None, test.messages)]
    return printed.tests, cut("XCTest", printed.tests, 2 * printed.runs.count("started") <= len(printed.runs))


def parallel(file: pathlib.Path, printed: Iterable[Test]) -> list[Test]:
    """Returns the tests that an XML file of SwiftPM's has besides those that were printed, since only failing ones print in parallel."""
    known = {test.name for test in printed}
    try:
        cases = xml.parse(file).iter("testcase")
    except (OSError, xml.ParseError):  # Nothing ran in parallel, or not to its end.
        return []
    found = [Test(f"{case.get('classname', '').rpartition('.')[2]}/{case.get('name')}", "passed" if case.find("failure") is None else "failed",
                  round(float(case.get("time", 0)), 3)) for case in cases]
    return [test for test in found if test.name not in known]


def read(stream: pathlib.Path, log: StrPath, due: bool) -> tuple[list[Test], list[str]]:
    """Returns a step's tests, and what is wrong beside them, from its event stream and its log, line by line because both may be long."""
    with lines(stream) as events, lines(log) as printed:
        tests, wrong = swift_testing(events)
        if not stream.exists():
            wrong = ["Swift Testing reported nothing: --disable-swift-testing leaves it out"] if due else []
        others, missing = xctest(printed)
        return others + parallel(stream.with_suffix(".xml"), others) + tests, wrong + missing


def cut(library: str, tests: Iterable[Test], over: bool) -> list[str]:
    """Returns what to say of a run that ended early, unless a test that was running says it."""
    said = over or any(test.status == "running" for test in tests)
    return [] if said else [f"{library} did not run to its end, so tests may be missing"]


def lines(file: StrPath) -> ContextManager[Iterable[str]]:
    return regular(file) if os.path.exists(file) else contextlib.nullcontext(())


def shard(part: str) -> list[str]:
    """Returns the options with which `swift test` leaves out what is in other shards than this one, such as 2/4. A test is in a shard by the
    length of its name: that needs no list of all tests, and a name that is neither library's is in each shard."""
    number, count = map(int, part.split("/"))
    others = "|".join(f".{{{left}}}" for left in range(count) if left != number - 1)
    length = f"(.{{{count}}})*({others})"
    return ["--skip", rf"^({length}\)/[^/]*:\d+:\d+|(?=[^/]*/test\w*$){length})$"] if others else []


def only(tests: Iterable[Test]) -> list[str]:
    """Returns the options with which `swift test` runs only these tests."""
    names = ((test.name.endswith(")"), re.escape(test.name)) for test in tests)
    pattern = "|".join(rf"^{name}(/|$)" if is_swift else rf"\.{name}$" for is_swift, name in names)
    return ["--filter", pattern.replace(r"\_", "_").replace(r"\-", "-")]  # which mean themselves without an escape, too
