"""Finds out which tests ran and how each ended: Swift Testing's from its event stream, XCTest's from its output."""

from __future__ import annotations  # Older Pythons read this, too.

import contextlib
import json
import pathlib
import re
import xml.etree.ElementTree as xml
from typing import Any, ContextManager, Iterable

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


def swift_testing(stream: Iterable[str]) -> tuple[list[Test], list[str]]:
    """Returns the tests of an event stream, and what is wrong beside them. A test that didn't end was running when its process ended."""
    functions, tests, began, outside, over = set[str](), dict[str, Test](), dict[str, float](), list[str](), False
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
    return those_begun(tests, began), outside + cut("Swift Testing", tests.values(), over)


def those_begun(tests: dict[str, Test], began: dict[str, float]) -> list[Test]:
    """Returns the tests without those that only waited for their turn, if others were running: all start at once, and then wait."""
    waiting = [name for name, test in tests.items() if test.status == "running" and name not in began]
    ran = [test for name, test in tests.items() if name not in waiting]
    return ran if any(test.status == "running" for test in ran) else list(tests.values())


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


def short(name: str) -> str:
    """Returns the name without the place in the source, which is the last part of an identifier."""
    return re.sub(r"/[^/]*\.swift:\d+:\d+$", "", name)


class Printed:
    """The tests in a log of XCTest's. Each time that a name starts is a new test, because targets may have classes with the same name.

    Tests run one after the other: what looks like another one's beginning or end in the middle of one is only printed by it, and so is what
    looks like a test outside of a run.
    """

    def __init__(self) -> None:
        self.tests = list[Test]()
        self.runs = list[str]()  # how each run began and ended, as far as none of it was printed by a test
        self.began = 0  # the number of these when the last test began
        self.goes_on = False  # the last message, over more lines

    @property
    def under_way(self) -> bool:
        return bool(self.tests) and self.tests[-1].status == "running"

    @property
    def in_run(self) -> bool:
        return bool(self.runs) and self.runs[-1] == "started"

    def take(self, line: str) -> None:
        case = XCTEST.search(line)  # Even after output without a line break.
        if case and self.ends(case):
            self.tests[-1].status, self.tests[-1].seconds = case[3], float(case[4] or 0)
            del self.runs[self.began:]
        elif run := XCTEST_RUN.search(line):
            self.runs.append(run[1])
        elif not self.under_way and not self.in_run:
            return
        elif said := XCTEST_SAID.match(line):
            return self.add(said)
        elif case and self.begins(case):
            self.tests.append(Test(f"{case[1]}/{case[2]}", "running"))
            self.began = len(self.runs)
        elif self.goes_on and self.continued(line.rstrip()):
            return
        self.goes_on = False

    def ends(self, case: re.Match[str]) -> bool:
        named = bool(self.tests) and self.tests[-1].name == f"{case[1]}/{case[2]}"
        return named and case[3] != "started" and (self.under_way or self.in_run)

    def begins(self, case: re.Match[str]) -> bool:
        return case[3] == "started" and self.in_run and (not self.under_way or self.began != len(self.runs))

    def add(self, said: re.Match[str]) -> None:
        """Adds a message of the test that it names, if this is the last one."""
        if self.tests and (test := self.tests[-1]).name == f"{said[4]}/{said[5]}":
            test.file, test.line = (test.file, test.line) if test.file else (said[1], int(said[2]))
            self.goes_on = len(test.messages) < MOST
            test.messages += kept(test.messages, said[6])

    def continued(self, line: str) -> bool:
        """Adds a line to the last message, if that has room for it."""
        messages = self.tests[-1].messages
        has_room = messages[-1].count("\n") < LINES and len(messages[-1]) < WIDTH
        if has_room:
            messages[-1] = f"{messages[-1]}\n{line}"[:WIDTH]
        return has_room


def xctest(log: Iterable[str]) -> tuple[list[Test], list[str]]:
    """Returns the tests in a log, and what is wrong beside them."""
    printed = Printed()
    for line in log:
        printed.take(line)
    for test in printed.tests:
        test.messages = [*filter(None, test.messages)]
    return printed.tests, cut("XCTest", printed.tests, 2 * printed.runs.count("started") <= len(printed.runs))


def xunit(stream: pathlib.Path) -> pathlib.Path:
    """Returns the file in which XCTest says which tests ran in parallel; an event stream's name tells it."""
    return stream.with_suffix(".xml")


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


def read(stream: pathlib.Path, log: pathlib.Path, due: bool) -> tuple[list[Test], list[str]]:
    """Returns a step's tests, and what is wrong beside them, from its event stream and its log, line by line because both may be long."""
    with lines(stream) as events, lines(log) as printed:
        tests, wrong = swift_testing(events)
        if not stream.exists():
            wrong = ["Swift Testing reported nothing: --disable-swift-testing leaves it out"] if due else []
        others, missing = xctest(printed)
        return others + parallel(xunit(stream), others) + tests, wrong + missing


def cut(library: str, tests: Iterable[Test], over: bool) -> list[str]:
    """Returns what to say of a run that ended early, unless a test that was running says it."""
    said = over or any(test.status == "running" for test in tests)
    return [] if said else [f"{library} did not run to its end, so tests may be missing"]


def lines(file: pathlib.Path) -> ContextManager[Iterable[str]]:
    return regular(file) if pathlib.Path(file).exists() else contextlib.nullcontext(())


def shard(part: str) -> list[str]:
    """Returns the options with which `swift test` leaves out what is in other shards than this one, such as 2/4. A test is in a shard by the
    length of its name: that needs no list of all tests, and a name that is neither library's is in each shard.
    """
    number, count = map(int, part.split("/"))
    others = "|".join(f".{{{left}}}" for left in range(count) if left != number - 1)
    length = f"(.{{{count}}})*({others})"
    return ["--skip", rf"^({length}\)/[^/]*:\d+:\d+|(?=[^/]*/test\w*$){length})$"] if others else []


def only(tests: Iterable[Test]) -> list[str]:
    """Returns the options with which `swift test` runs only these tests."""
    patterns = []
    for test in tests:
        swift = test.name.endswith(")")
        patterns.append(rf"^{re.escape(test.name)}(/|$)" if swift else rf"\.{re.escape(test.name)}$")
    # These characters mean themselves without an escape, too.
    return ["--filter", "|".join(patterns).replace(r"\_", "_").replace(r"\-", "-")]
