"""Reads of a log why a step failed, and which of its lines to show."""

import os
import re

SANITIZERS = {
    "a data race": re.compile(r"^WARNING: ThreadSanitizer: .*\brace\b"),
    "a fault that the thread sanitizer found": re.compile(r"^(WARNING|ERROR|FATAL): ThreadSanitizer"),
    "a leak": re.compile(r"ERROR: LeakSanitizer: detected memory leaks"),
    "a fault that the address sanitizer found": re.compile(r"ERROR: AddressSanitizer"),
}
COMPILER = re.compile(r"^(/.*?|[\w.+-]+/.*?):(\d+):\d+: error: (.*)$")
SIGNAL = re.compile(r"error: Exited with unexpected signal code (\d+)|\*\*\* Signal (\d+)")
# What may also stand in what a test expected, or a process printed that it had started.
CRASH = re.compile(rf"{SIGNAL.pattern}|Fatal error: |Current stack trace|💣 Program crashed")
CRASHED_THREAD = re.compile(r"^Thread \d+[^\n]* crashed:$(.*?)(?=^Thread \d|\Z)", re.MULTILINE | re.DOTALL)
FATAL = re.compile(r"(.*Fatal error: .*)")
COMPLAINT = re.compile(r"(error|warning): ")
COLORS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
UNEXPECTED = re.compile(r"unexpected signal code 9\b")
KILLED = "signal 9 (SIGKILL), which the kernel sends where memory is short"
TAIL = 25
# Bytes of a log's beginning, and as many of its end, which are shown: a step may print without end.
READ = 4 << 20
# What output.py says of bytes that it didn't write, at most so many before that end.
DROPPED, MARGIN = re.compile(rb"\n\.\.\. (\d+) bytes were left out; the end:\n"), 1 << 20
WIDTH = 500


def read(file):
    """A log's text, without the middle of a long one; nothing if there is none."""
    try:
        with open(file, "rb") as log:
            found = log.read(READ)
            left = os.fstat(log.fileno()).st_size - 2 * READ
            if left > 0:
                log.seek(max(READ, left + READ - MARGIN))
                end = log.read()
                left += sum(int(number) for number in DROPPED.findall(end))
                found += f"\n… {left} bytes are left out here …\n".encode() + end[-READ:]
            found += log.read()
    except FileNotFoundError:
        return ""
    return found.decode(errors="replace")


def shown(line):
    """A line of a log as a terminal may have it."""
    line = CONTROL.sub("", line)
    return line if len(line) <= WIDTH else line[:WIDTH] + "…"


def plain(text):
    return COLORS.sub("", text)


def sanitizer(lines):
    """What a sanitizer found, and from where in the lines on."""
    for number, line in enumerate(lines):
        for what, pattern in SANITIZERS.items() if "Sanitizer" in line else ():
            if pattern.search(plain(line)):
                return what, number
    return None, 0


def killed(code, log):
    """What SIGKILL means, where a command got it: itself, as a shell tells, or as SwiftPM does of the tests."""
    return KILLED if code in (-9, 137) or UNEXPECTED.search(log) else None


def in_backtrace(log, tests):
    """Those of the tests that a crash's backtrace names: Swift Testing begins all tests at once, so many were running."""
    start = CRASH.search(log)
    after = log[start.end():] if start else ""
    if thread := CRASHED_THREAD.search(after):  # Other threads were in the middle of other tests.
        after = thread[1]
    return [test for test in tests if re.search(in_a_frame(test), after)]


def in_a_frame(test):
    """The test's function as it stands there: as it was written, or mangled, with its length before it."""
    name = re.split(r"[/.]", test.name.partition("(")[0])[-1].strip("`")
    return rf"(?<!\w){re.escape(name)}(?!\w)|(?<!\d){len(name)}{re.escape(name)}"


def compile_errors(log):
    """The compiler's errors, each once: (file, line, message)."""
    found = [COMPILER.match(line) for line in log.splitlines()]
    return list(dict.fromkeys((match[1], int(match[2]), match[3]) for match in found if match))


def excerpt(log, tests=()):
    """The lines that say most: the compiler's errors, a sanitizer's report, what failing tests recorded, or else the last ones."""
    log = plain(log)
    lines = log.splitlines()
    if errors := compile_errors(log):
        return [f"{file}:{line}: error: {message}" for file, line, message in errors[:10]]
    what, start = sanitizer(lines)
    if what:
        return lines[start:start + TAIL]
    failed = [test for test in tests if test.status in ("failed", "flaky")]
    if failed:
        shown = []
        for test in failed[:10]:
            place = f" at {test.file}:{test.line}" if test.file else ""
            shown.append(f"{test.name}{place}")
            shown += [f"  {line}" for message in test.messages[:5] for line in message.splitlines()[:8]]
        return shown
    fatal = [match[1] for match in map(FATAL.match, lines) if match]
    # What a tool like DocC says, each with the line that says where.
    starts = [number for number, line in enumerate(lines) if COMPLAINT.match(line)]
    return fatal[:5] or [line for start in starts[:10] for line in lines[start:start + 2]] or lines[-TAIL:]
