"""Finds out from a log why a step failed, and which of its lines to show."""

import os
import re
from collections.abc import Iterable, Sequence

from .problems import StrPath, in_words, regular
from .results import StepResult, Test

# The worst first: of several, it is the cause that is named. An empty text is replaced by what the report itself calls it.
SANITIZERS = {
    re.compile(r"ERROR: AddressSanitizer:? *(?:attempting )?(.*?)(?: on | in |:|$)"): "",
    re.compile(r"^WARNING: ThreadSanitizer: .*\brace\b"): "a data race",
    re.compile(r"^(?:WARNING|ERROR|FATAL): ThreadSanitizer"): "a fault that the thread sanitizer found",
    re.compile(r"ERROR: LeakSanitizer: detected memory leaks"): "a leak",
}
COMPILER = re.compile(r"^(/.*?|[\w.+-]+/.*?):(\d+):\d+: error: (.*)$")
SIGNAL = re.compile(r"error: (?:Process .* e|E)xited with unexpected signal code (\d+)|\*\*\* Signal (\d+)")
# This may also be in a test's expectation, or in the output of a process that a test started.
CRASH = re.compile(rf"{SIGNAL.pattern}|Fatal error: |Current stack trace|💣 Program crashed")
CRASHED_THREAD = re.compile(r"^Thread \d+[^\n]* crashed:$(.*?)(?=^Thread \d|\Z)", re.MULTILINE | re.DOTALL)
# A frame that has a line of code, in a sanitizer's report and in Swift's own backtraces. A path ends at a space, because a search that
# went on to the end of the line would take the square of a long line's length.
OF_REPORT = re.compile(r"^ *#\d+ .*? (/[^:\s]*):(\d+)(?::\d+)?(?: |$)", re.MULTILINE)
FRAME = re.compile(r" at (/[^:\s]*):(\d+)(?::\d+)?$", re.MULTILINE)
COMPLAINT = re.compile(r"(error|warning): ")
COLORS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
TAIL = 25
# The bytes that are read of a log's beginning, and as many of its end: a step may print without end.
READ = 4 << 20
# The line in which output.py reports bytes that it didn't write, and the most bytes that it may be before that end.
DROPPED, MARGIN = re.compile(rb"\n\.\.\. (\d+) bytes were left out; the end:\n"), 1 << 20
WIDTH = 500


def read(file: StrPath) -> str:
    """Returns a log's text, without the middle of a long one, or why it can't be read."""
    try:
        with regular(file, "rb") as log:
            found: bytes = log.read(READ)
            left = os.fstat(log.fileno()).st_size - 2 * READ
            if left > 0:
                log.seek(max(READ, left + READ - MARGIN))
                end = log.read()
                left += sum(int(number) for number in DROPPED.findall(end))
                found += f"\n… {left} bytes are left out here …\n".encode() + end[-READ:]
            found += log.read()
    except OSError as error:
        return in_words(error)
    return found.decode(errors="replace")


def shown(line: str) -> str:
    """Returns a line of a log without control characters, and not too long for a terminal."""
    line = CONTROL.sub("", line)
    return line if len(line) <= WIDTH else line[:WIDTH] + "…"


def plain(text: str) -> str:
    return COLORS.sub("", text)


def sanitizer(lines: Iterable[str]) -> tuple[str | None, int]:
    """Returns the worst that a sanitizer found, and the index of the line in which its report begins."""
    found = dict[re.Pattern[str], tuple[str, int]]()
    for number, line in enumerate(lines):
        for pattern, called in SANITIZERS.items() if "Sanitizer" in line else ():
            if match := pattern.search(plain(line)):
                found.setdefault(pattern, (called or f"{match[1] or 'a fault'}, found by the address sanitizer", number))
                break
    return next((found[pattern] for pattern in SANITIZERS if pattern in found), (None, 0))


def in_backtrace(log: str, tests: Sequence[Test]) -> list[Test]:
    """Returns the tests that a crash's backtrace names: Swift Testing starts all tests at once, so many were running."""
    trace, found = backtrace(log), []
    for test in tests:  # Its function is there as it was written, or mangled, with its length before it.
        name = re.split(r"[/.]", test.name.partition("(")[0])[-1].strip("`")
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)|(?<!\d){len(name)}{re.escape(name)}", trace):
            found.append(test)
    return found


def backtrace(log: str) -> str:
    """Returns the crashed thread's frames, because other threads were running other tests; without threads, what follows the crash."""
    start = CRASH.search(log)
    after = log[start.end():] if start else ""
    thread = CRASHED_THREAD.search(after)
    return thread[1] if thread else after


def place(pattern: re.Pattern[str], text: str, project: StrPath) -> str:
    """Returns the first line of the project's own code that the pattern finds, as ` at Sources/A.swift:5`; an empty text if there is none."""
    for match in pattern.finditer(text):
        file = os.path.relpath(os.path.realpath(match[1]), os.path.realpath(project))
        if not file.startswith(("../", ".build/", ".ci/")):
            return f" at {file}:{match[2]}"
    return ""


def compile_errors(log: str) -> list[tuple[str, int, str]]:
    """Returns the compiler's errors, each once: (file, line, message)."""
    found = [COMPILER.match(line) for line in log.splitlines()]
    return list(dict.fromkeys((match[1], int(match[2]), match[3]) for match in found if match))


def errors_of(log: str, step: StepResult) -> list[tuple[str, int, str]]:
    """Returns the compiler's errors if they are why a step failed: tests that ran are proof of code that compiles, whatever they print."""
    return [] if step.tests or step.finding or step.status == "crashed" else compile_errors(plain(log))


def excerpt(log: str, step: StepResult) -> list[str]:
    """Returns the most useful lines: the compiler's errors, a sanitizer's report, what tests or tools said, or else the last ones."""
    if errors := errors_of(log, step):
        return [f"{file}:{line}: error: {message}" for file, line, message in errors[:10]]
    lines, found = plain(log).splitlines(), list[str]()
    what, start = sanitizer(lines)
    if what:
        return lines[start:start + TAIL]
    for test in [test for test in step.tests if test.status in ("failed", "flaky")][:10]:
        found.append(test.name + (f" at {test.file}:{test.line}" if test.file else ""))
        found += [f"  {line}" for message in test.messages[:5] for line in message.splitlines()[:8]]
    starts = [number for number, line in enumerate(lines) if COMPLAINT.match(line)]
    complaints = [line for start in starts[:10] for line in lines[start:start + 2]]  # The next line says where.
    return found or [line for line in lines if "Fatal error: " in line][:5] or complaints or lines[-TAIL:]
