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


def from_proc() -> Iterator[Process]:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            head, _, tail = file.read().rpartition(")")
            state, parent, group = tail.split()[:3]
            yield Process(int(pid), int(parent), int(group), state, head.partition("(")[2])


def from_ps() -> Iterator[Process]:
    with subprocess.Popen(["ps", "-axo", "pid=,ppid=,pgid=,state=,comm="], stdout=subprocess.PIPE, text=True, errors="replace") as ps:
        lines = [line.split(None, 4) for line in ps.stdout or ()]
    for pid, parent, group, state, *name in lines:
        if int(pid) != ps.pid:
            yield Process(int(pid), int(parent), int(group), state, os.path.basename("".join(name).rstrip("\n")))


table = from_proc if sys.platform == "linux" else from_ps


def below(root: int, ours: Callable[[Process], bool] = lambda process: False) -> dict[int, Process]:
    """Returns the living processes below one, and those that are `ours` wherever they are, by their ids."""
    children, found, waiting = dict[int, list[Process]](), dict[int, Process](), [root]
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


class Command:
    """A command that was started below this process, with what it starts."""

    def __init__(self, words: list[str], output: Output, cgroup: str) -> None:
        self.output, self.cgroup = output, cgroup
        self.status: int | None = None
        self.groups = dict[int, int]()  # of the processes that were found below this one, by their ids
        try:
            self.process = subprocess.Popen(words, stdout=output.writing, stderr=output.writing, start_new_session=True,
                                            preexec_fn=lambda: write(cgroup, "cgroup.procs", "0"))
        except OSError as error:
            os.write(output.writing, f"{words[0]}: {error.strerror}\n".encode())
            output.close()
            sys.exit(127)
        os.close(output.writing)

    def reap(self) -> int | None:
        """Collects the statuses of ended children, also adopted ones; returns that of the command, once it has one."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self.status = ended[1] if ended[0] == self.process.pid else self.status
        return self.status

    def remaining(self) -> dict[int, Process]:
        """Returns the living processes below this one; where it adopts no orphans, also the command's group and what it found before."""
        found = below(os.getpid(), lambda one: sys.platform != "linux" and one.group in (self.process.pid, self.groups.get(one.pid)))
        self.groups |= {pid: process.group for pid, process in found.items()}
        return found

    def end(self) -> dict[int, Process]:
        """Ends everything below this process, politely first; returns what couldn't be ended."""
        for number, seconds in ((signal.SIGTERM, POLITELY), (signal.SIGKILL, KILLED)):
            began, told = time.monotonic(), dict[int, Process]()
            while time.monotonic() < began + seconds:
                self.reap()
                left = self.remaining()
                if not left and self.status is not None:
                    return {}
                if number == signal.SIGKILL:
                    write(self.cgroup, "cgroup.kill", "1")
                # Not what they start when they are told, such as a trap's commands, which has time to end by itself.
                due = {} if told and number == signal.SIGTERM else left
                told = told or left
                seconds = CLEANING if number == signal.SIGTERM and left.keys() - told.keys() else seconds
                for pid in due:  # Parents first: one that goes on when its child has ended could say that all is well.
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, number)
                self.output.wait(0.02)
        return self.remaining()


def in_words(process: Process) -> str:
    words, stopped = "", ", stopped (state T)" if process.state[0] in "Tt" else ""
    # It may have just ended, or the system has no such files.
    with contextlib.suppress(OSError), open(f"/proc/{process.pid}/cmdline", encoding="utf-8", errors="replace") as file:
        words = " ".join(file.read().replace("\0", " ").split())
    return f"{process.name} (pid {process.pid}{stopped}{': ' + words[:120] if words else ''})"


def main() -> None:
    output, told = Output(sys.argv[2]), list[int]()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: told.append(number))
    parent = os.getppid()
    if sys.platform == "linux" and ctypes.CDLL(None, use_errno=True).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    began, reason = time.monotonic(), None
    command = Command(sys.argv[4:], output, sys.argv[3])
    while command.reap() is None and not reason:  # Polls, because that works on every system.
        if told or os.getppid() != parent:
            reason = "interrupted"
        elif time.monotonic() >= began + float(sys.argv[1]):
            reason = "timeout"
        else:
            output.wait(0.02)
    took, behind = time.monotonic() - began, dict[int, Process]()
    late = command.remaining() if reason == "timeout" else {}
    parents = {process.parent for process in late.values()}  # Of those without children, one is the one that doesn't end.
    running = [in_words(process) for pid, process in sorted(late.items()) if pid not in parents]
    if not reason:
        deadline = time.monotonic() + BY_ITSELF
        while (behind := command.remaining()) and time.monotonic() < deadline:
            command.reap()
            output.wait(0.02)
    unkillable = command.end()
    output.close()
    with contextlib.suppress(OSError):  # Its parent removes it, too, with what the command made in it.
        os.rmdir(command.cgroup)
    result = {
        "code": None if command.status is None else os.waitstatus_to_exitcode(command.status), "seconds": took, "reason": reason,
        "left": sorted({process.name for process in behind.values()}), "running": running, "problem": output.problem,
        "unkillable": sorted(process.name for process in unkillable.values())}
    with contextlib.suppress(BrokenPipeError):
        os.write(1, json.dumps(result).encode())
