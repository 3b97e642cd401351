"""Runs a command and leaves none of its processes behind; its arguments are SECONDS OUTPUT CGROUP COMMAND…

What the command starts stays below this process, in any session or group: on Linux, orphans become its children; elsewhere, it also ends
what is left of the command's group. It ends everything when the time is up, when it is told to, and when its parent is gone. CGROUP is one
for the command, or empty. Prints what happened as JSON: if the time was up, also which processes were running.
"""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .output import Output

SET_CHILD_SUBREAPER = 36


class Process(NamedTuple):
    pid: int
    parent: int
    group: int
    state: str
    name: str


# The seconds in which leftover processes may end: by themselves, after SIGTERM, what they start then to clean up, after SIGKILL.
BY_ITSELF, POLITELY, CLEANING, KILLED = 0.5, 1, 5, 10


def adopt_orphans() -> None:
    if sys.platform == "linux":
        library = ctypes.CDLL(None, use_errno=True)
        if library.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


def from_proc() -> Iterator[Process]:
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    head, _, tail = file.read().rpartition(")")
            except OSError:
                continue
            state, parent, group = tail.split()[:3]
            yield Process(int(entry), int(parent), int(group), state, head.partition("(")[2])


def from_ps() -> Iterator[Process]:
    with subprocess.Popen(["ps", "-axo", "pid=,ppid=,pgid=,state=,comm="], stdout=subprocess.PIPE, text=True, errors="replace") as ps:
        lines = [line.split(None, 4) for line in ps.stdout or ()]
    for pid, parent, group, state, *name in lines:
        if int(pid) != ps.pid:
            yield Process(int(pid), int(parent), int(group), state, os.path.basename("".join(name).rstrip("\n")))


table = from_proc if sys.platform == "linux" else from_ps


def below(root: int, ours: Callable[[Process], bool] = lambda process: False) -> dict[int, Process]:
    """Returns the living processes below one, and those that are `ours` wherever they are, by their ids."""
    children: dict[int, list[Process]] = {}
    found: dict[int, Process] = {}
    waiting = [root]
    for process in table():
        children.setdefault(root if ours(process) else process.parent, []).append(process)
    while waiting:
        more = children.get(waiting.pop(), [])
        waiting += [process.pid for process in more]
        found |= {process.pid: process for process in more if process.state[0] not in "ZX"}
    return found


def write(cgroup: str, name: str, word: str) -> None:
    """Writes a word into one of the files of a cgroup, if that is possible; an empty path is that of none."""
    with contextlib.suppress(OSError), open(os.path.join(cgroup, name) if cgroup else os.devnull, "w") as file:
        file.write(word)


def remaining(command: int, known: dict[int, int]) -> dict[int, Process]:
    """Returns the living processes below this one, by their ids. On systems where it doesn't adopt orphans, also those of the
    command's group, and those that it found before: `known`, their groups by their ids.
    """
    found = below(os.getpid(), lambda one: sys.platform != "linux" and one.group in (command, known.get(one.pid)))
    known.update((pid, process.group) for pid, process in found.items())
    return found


def childless(found: dict[int, Process]) -> list[str]:
    """Describes those of the processes that have no children among them: one of these is the one that doesn't end."""
    parents = {process.parent for process in found.values()}
    return [in_words(process) for pid, process in sorted(found.items()) if pid not in parents]


def in_words(process: Process) -> str:
    words, stopped = "", ", stopped (state T)" if process.state[0] in "Tt" else ""
    with contextlib.suppress(OSError):  # It has just ended, or the system has no such files.
        with open(f"/proc/{process.pid}/cmdline", encoding="utf-8", errors="replace") as file:
            words = " ".join(file.read().replace("\0", " ").split())
    return f"{process.name} (pid {process.pid}{stopped}{': ' + words[:120] if words else ''})"


def reap(command: int, status: int | None) -> int | None:
    """Collects the statuses of ended children; returns that of the command, once it has one."""
    while True:
        try:
            pid, ended = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == command:
            status = ended


def end_everything(command: int, status: int | None, known: dict[int, int], output: Output, cgroup: str) -> tuple[int | None, dict[int, Process]]:
    """Ends everything below this process, politely first; returns the command's status and what couldn't be ended."""
    sent: set[int] = set()
    for number, seconds in ((signal.SIGTERM, POLITELY), (signal.SIGKILL, KILLED)):
        began, told = time.monotonic(), set[int]()
        while time.monotonic() < began + seconds:
            status = reap(command, status)
            left = remaining(command, known)
            if not left and status is not None:
                return status, {}
            if number == signal.SIGKILL:
                write(cgroup, "cgroup.kill", "1")
            told = told or set(left)  # Not what they start when they are told, such as a trap's commands, which has time to end by itself.
            seconds = CLEANING if number == signal.SIGTERM and left.keys() - told else seconds
            # Parents first: one that goes on when its child has ended could say that all is well.
            for pid in left if number == signal.SIGKILL else [pid for pid in left if pid in told - sent]:
                sent.add(pid)
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
            output.wait(0.02)
    return status, remaining(command, known)


def start(output: Output, cgroup: str, command: list[str]) -> int:
    pid = os.fork()
    if pid:
        os.close(output.writing)
        return pid
    os.setsid()
    write(cgroup, "cgroup.procs", "0")
    os.dup2(output.writing, 1)
    os.dup2(output.writing, 2)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these, and children would inherit that.
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(127)


def wait(command: int, parent: int, deadline: float, told: list[int], output: Output) -> tuple[int | None, str | None]:
    """Returns the command's status, or None and why it has to be ended. Polls, because that works on every system."""
    pause = 0.002
    while (status := reap(command, None)) is None:
        if told or os.getppid() != parent:
            return None, "interrupted"
        if time.monotonic() >= deadline:
            return None, "timeout"
        output.wait(pause)
        pause = min(2 * pause, 0.05)
    return status, None


def main() -> None:
    seconds, output, cgroup, command = float(sys.argv[1]), Output(sys.argv[2]), sys.argv[3], sys.argv[4:]
    told: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: told.append(number))
    parent = os.getppid()
    adopt_orphans()
    began = time.monotonic()
    child = start(output, cgroup, command)
    status, reason = wait(child, parent, began + seconds, told, output)
    took = time.monotonic() - began
    behind, known = dict[int, Process](), dict[int, int]()
    running = childless(remaining(child, known)) if reason == "timeout" else []
    if reason is None:
        deadline = time.monotonic() + BY_ITSELF
        while (behind := remaining(child, known)) and time.monotonic() < deadline:
            reap(child, status)
            output.wait(0.02)
    status, unkillable = end_everything(child, status, known, output, cgroup)
    output.close()
    with contextlib.suppress(OSError):  # Its parent removes it, too, with what the command made in it.
        os.rmdir(cgroup)
    code = os.waitstatus_to_exitcode(status) if status is not None else None
    result = {
        "code": code, "seconds": took, "reason": reason, "left": sorted({process.name for process in behind.values()}),
        "unkillable": sorted(process.name for process in unkillable.values()), "running": running, "problem": output.problem}
    with contextlib.suppress(BrokenPipeError):
        os.write(1, json.dumps(result).encode())
