"""Stands in for `swift build` and `swift test`. FAKE_TESTS says what each test does: 'name=pass name=fail name=flaky …'."""

import json
import os
import pathlib
import re
import signal
import sys
import time

arguments = sys.argv[1:]
behaviors = dict(item.split("=") for item in os.environ.get("FAKE_TESTS", "").split())


def option(name):
    return arguments[arguments.index(name) + 1] if name in arguments else None


def attempts(name):
    """Returns how often a test has been run in this project, including this time."""
    counter = pathlib.Path(f"{name}.attempts")
    count = int(counter.read_text()) + 1 if counter.exists() else 1
    counter.write_text(str(count))
    return count


class Stream:
    def __init__(self, file):
        self.file = open(file, "w", encoding="utf-8") if file else None

    def write(self, record, **payload):
        if self.file:
            print(json.dumps({"kind": record, "payload": payload, "version": 0}), file=self.file, flush=True)

    def event(self, kind, test, **payload):
        self.write("event", kind=kind, testID=test, instant={"absolute": time.monotonic()}, messages=payload.pop("messages", []), **payload)


def run(stream, name, behavior, file="Up"):
    if behavior == "namesakes":
        return run(stream, name, "pass", file="Down") and run(stream, name, "fail")
    test = f"Made.Up/{name}()/{file}.swift:{len(name)}:2"
    stream.write("test", kind="function", id=test, name=f"{name}()")
    if behavior == "skip":
        stream.event("testSkipped", test, messages=[{"symbol": "skip", "text": f'Test {name}() skipped: "made up"'}])
        return True
    if behavior == "leave":
        sys.exit(0)
    stream.event("testStarted", test)
    if behavior == "waiting":
        return True
    stream.event("testCaseStarted", test)
    if behavior == "crash":
        print("Up.swift:7: Fatal error: made up")
        print("error: Exited with unexpected signal code 5")
        sys.exit(1)
    if behavior == "hang":
        os.system("sleep 1000 & sleep 1000")
    if behavior == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if behavior == "open":
        return True
    if behavior == "killed":
        print("error: Exited with unexpected signal code 9")
        sys.exit(1)
    if behavior == "record-and-exit":
        stream.event("issueRecorded", test, issue={"isKnown": False}, messages=[{"symbol": "fail", "text": "made up"}])
        sys.exit(3)
    if behavior == "exit":
        sys.exit(0)
    failed = behavior == "fail" or behavior == "flaky" and attempts(name) == 1 or behavior == "not-alone" and len(chosen) > 1
    if failed:
        place = {"_filePath": "/made/Up.swift", "line": 7}
        stream.event("issueRecorded", test, issue={"isKnown": False, "sourceLocation": place}, messages=[{"symbol": "fail", "text": "1 is not 2"}])
    stream.event("testEnded", test, messages=[{"symbol": "skip", "text": f'Test {name}() was cancelled after 0.1 seconds: "made up"'}] if behavior == "cancel" else [])
    return not failed


if arguments[:2] == ["package", "tools-version"]:
    sys.exit(print(os.environ.get("FAKE_TOOLS", "6.0.0")))
if arguments[0] == "build":
    print("/made/Up.swift:3:1: error: made up" if behaviors.get("build") == "fail" else "Build complete!")
    sys.exit(1 if behaviors.get("build") == "fail" else 0)

said = os.environ.get("FAKE_PRINTS", "")  # by a test, wherever it is printed
if (what := behaviors.get("xctest")) == "parallel":
    for number, name in enumerate(("testA", "testB"), 1):
        print(f"[{number}/2] Testing Made.Up/{name}")
    pathlib.Path(option("--xunit-output")).write_text("<testsuites><testsuite>" + "".join(
        f'<testcase classname="Made.Up" name="{name}" time="0.1"></testcase>' for name in ("testA", "testB")) + "</testsuite></testsuites>")
elif what:
    print("Test Suite 'Selected tests' started at 2026-01-01 10:00:00.000\nTest Case 'Up.testA' started at 2026-01-01")
    print(f"{said}\nTest Case 'Up.testA' passed (0.1 seconds)")
    if what != "cut":
        print("50 %Test Suite 'Selected tests' passed at 2026-01-01 10:00:00.000\n\t Executed 1 test, with 0 failures (0 unexpected) in 0.1 (0.1) seconds")
if "early" in behaviors.values() or "--disable-swift-testing" in arguments:
    sys.exit(0)
stream = Stream(option("--experimental-event-stream-output"))
stream.event("runStarted", None)
ids = {name: f"Made.Up/{name}()/Up.swift:1:2" for name in behaviors}
chosen = {name: behaviors[name] for name, test in ids.items() if re.search(option("--filter") or "", test) and not re.search(option("--skip") or "^$", test)}
results = [run(stream, name, what) for name, what in chosen.items() if what in ("pass", "skip", "fail", "flaky", "namesakes", "crash", "hang", "exit", "waiting", "stop", "open", "killed", "record-and-exit", "leave", "late", "hidden", "not-alone", "cancel")]
if said:
    print(said)
for what in behaviors.values():
    if what == "linger":
        os.system("sleep 1000 & wait")
    if what == "outside":
        stream.write("event", kind="issueRecorded", issue={"isKnown": False}, messages=[{"text": "Issue recorded"}, {"text": "made up"}])
        results.append(False)
    if what == "race" or (what == "race-when-two-passes" and all(results)):
        print("WARNING: ThreadSanitizer: Swift access race (pid=1)\n  Write of size 8 at Up.swift:9")
        sys.exit(66)
    if what == "words":
        print("it said: Fatal error: made up")
    if what == "leak-and-use":
        print("==1==ERROR: LeakSanitizer: detected memory leaks\n==2==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n    #0 0x55 in $s3two /made/A.swift:9:3")
        sys.exit(1)
    if what == "leak":
        print("==1==ERROR: LeakSanitizer: detected memory leaks\nDirect leak of 16 bytes")
        sys.exit(23)
stream.event("runEnded", None)
sys.exit(3 if "late" in chosen.values() else 0 if all(results) and "hidden" not in chosen.values() else 1)
