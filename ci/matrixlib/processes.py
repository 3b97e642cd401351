"""Runs the commands of steps under supervise.py, several at a time, and ends them all on request."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

SUPERVISOR = pathlib.Path(__file__).with_name("supervise.py")


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a command ended, as supervise.py reports it: its exit code (negative: the signal), or why it was ended before it had one."""
    code: int | None
    seconds: float
    reason: str | None = None  # "timeout" or "interrupted"
    left: tuple = ()  # the names of processes that it had left behind
    unkillable: tuple = ()
    running: tuple = ()  # if its time was up: what ran then, in words
    problem: int | None = None  # the errno of the reason why its output could not be written
    starved: int = 0  # the number of processes that the kernel ended meanwhile because memory was short


def end_orphans(temporary):
    """Ends what a supervisor left when it was ended itself, found by the TMPDIR in its environment; returns the names (Linux)."""
    names, mark = set(), f"TMPDIR={temporary}".encode()
    for _ in range(100 if temporary and sys.platform == "linux" else 0):  # They may be starting others.
        found = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if mark in environment_of(pid)]
        if not found:
            break
        for pid in found:
            with contextlib.suppress(OSError):
                names.add(pathlib.Path(f"/proc/{pid}/comm").read_text().strip())
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    return tuple(sorted(names))


def environment_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ()


def ended_for_memory(groups=pathlib.Path("/sys/fs/cgroup"), own=pathlib.Path("/proc/self/cgroup")):
    """Returns how many processes of this one's cgroup the kernel has ended because memory was short; 0 if that can't be read."""
    try:
        path = next(line[3:] for line in own.read_text().splitlines() if line.startswith("0::"))
        events = (groups / path.strip("/") / "memory.events").read_text()
        return next(int(line.split()[1]) for line in events.splitlines() if line.startswith("oom_kill "))
    except (OSError, ValueError, StopIteration):
        return 0


def said(*command, cwd=None):
    """Returns what a short command prints, with bytes that aren't text as surrogates; None if it can't be run or fails."""
    try:
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="surrogateescape")


def fault(*command, cwd=None):
    """Returns why a short command fails, in its own words or the system's, as one line."""
    try:
        words = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=60).stderr.decode(errors="replace")
    except (OSError, subprocess.SubprocessError) as error:
        words = str(error)
    return " ".join(words.split())


@contextlib.contextmanager
def on_interrupt(handler):
    """Makes Control-C, SIGTERM and the closing of the terminal call a function instead of ending the process."""
    numbers = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else [])]  # nohup
    before = [signal.signal(number, handler) for number in numbers]
    try:
        yield
    finally:
        for number, earlier in zip(numbers, before):
            signal.signal(number, earlier)


class Processes:
    def __init__(self):
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._running = set()

    def run(self, command, environment, folder, seconds, output):
        """Runs a command, and appends its output to a file; returns when nothing that it started is left."""
        starved = ended_for_memory()
        supervised = [sys.executable, "-I", "-S", "-B", str(SUPERVISOR), str(seconds), str(output), *command]
        with self._lock:
            if self.stopped.is_set():
                return Ended(None, 0, "interrupted")
            process = subprocess.Popen(
                supervised, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True)
            self._running.add(process)
        if self.stopped.is_set():  # which may have happened in between
            process.terminate()
        try:
            said, _ = process.communicate()
        finally:
            with self._lock:
                self._running.discard(process)
        try:
            told = json.loads(said)
        except ValueError:  # Something ended the supervisor: this process, or the command itself.
            left = end_orphans(environment.get("TMPDIR", ""))
            told = {"code": process.returncode, "seconds": 0, "reason": "interrupted" if self.stopped.is_set() else None, "left": left}
        return Ended(**told, starved=ended_for_memory() - starved)

    def stop(self):
        """Ends what runs, and lets nothing more start. Takes no lock, because a signal handler may call it while another thread has it."""
        self.stopped.set()
        for process in list(self._running):
            process.terminate()
