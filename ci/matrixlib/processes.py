"""Runs the commands of steps under supervise.py, several at a time, and ends them all on request."""

import contextlib
import dataclasses
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from . import supervise
from .archive import OUTER
from .problems import StrPath

# Without what site and the environment could add, since it starts for each step.
SUPERVISOR = [sys.executable, "-I", "-S", "-B", "-c", f"import sys; sys.path.insert(0, {str(OUTER)!r}); from {__package__}.supervise import main; main()"]
# The seconds after its time, or after it was told to end, in which a supervisor has to have ended everything.
PATIENCE = 20
NOBODY = -1  # the id of no process


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a command ended, as supervise.py reports it: its exit code (negative: the signal), or why it was ended before it had one."""
    code: int | None
    seconds: float
    reason: str | None = None  # "timeout" or "interrupted"
    left: tuple[str, ...] = ()  # the names of processes that it had left behind
    unkillable: tuple[str, ...] = ()
    running: tuple[str, ...] = ()  # if its time was up: what ran then, in words
    problem: int | None = None  # the errno of the reason why its output could not be written
    starved: int | None = 0  # the number of processes that the kernel ended meanwhile because memory was short; None if it doesn't say


@contextlib.contextmanager
def cgroup() -> Iterator[str]:
    """Makes a cgroup for a command, of which nothing is left in the end, whatever it did to get away; yields "" where that isn't allowed."""
    folder = ""
    with contextlib.suppress(OSError, StopIteration):
        folder = tempfile.mkdtemp(prefix="ci-matrix.", dir=own_cgroup())
    try:
        yield folder
    finally:
        supervise.write(folder, "cgroup.kill", "1")
        for _ in range(50):
            with contextlib.suppress(OSError):  # It is busy until the last process has ended, and gone if its supervisor has removed it.
                os.rmdir(folder)
            if not os.path.exists(folder):
                break
            time.sleep(0.02)


def own_cgroup(groups: pathlib.Path = pathlib.Path("/sys/fs/cgroup"), own: pathlib.Path = pathlib.Path("/proc/self/cgroup")) -> pathlib.Path:
    """Returns the folder of this process's cgroup of version 2, which may stand beside those of version 1."""
    path = next(line[3:].strip("/") for line in own.read_text().splitlines() if line.startswith("0::"))
    return (groups / "unified" if (groups / "unified").is_dir() else groups) / path


def ended_for_memory(*places: pathlib.Path) -> int | None:
    """Returns how many processes of this one's cgroup the kernel has ended because memory was short; None if that can't be read."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        events = (own_cgroup(*places) / "memory.events").read_text()
        return next(int(line.split()[1]) for line in events.splitlines() if line.startswith("oom_kill "))
    return None


def end_rest(supervisor: subprocess.Popen[str], temporary: str) -> tuple[str, ...]:
    """Ends a supervisor that doesn't answer, what is below it, and on Linux what has its command's TMPDIR; returns the names."""
    def is_its(process: supervise.Process) -> bool:
        with contextlib.suppress(OSError):
            environment = pathlib.Path(f"/proc/{process.pid}/environ").read_bytes()
            return process.pid != supervisor.pid and os.fsencode(f"TMPDIR={temporary}") in environment.split(b"\0")
        return False

    names = set[str]()
    for _ in range(100):  # They may be starting others.
        found = supervise.below(supervisor.pid if supervisor.poll() is None else NOBODY, is_its)
        if not found:
            break
        names.update(process.name for process in found.values())
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    with supervisor:
        supervisor.kill()
    return tuple(sorted(names))


def said(*command: StrPath, cwd: StrPath | None = None) -> str | None:
    """Returns what a short command prints, with bytes that aren't text as surrogates; None if it can't be run or fails."""
    done = briefly(command, cwd)
    return None if done.returncode else done.stdout.decode(errors="surrogateescape")


def fault(*command: StrPath, cwd: StrPath | None = None) -> str:
    """Returns why a short command fails, in its own words or the system's, as one line."""
    return " ".join(briefly(command, cwd).stderr.decode(errors="replace").split())


def briefly(command: Sequence[StrPath], cwd: StrPath | None) -> subprocess.CompletedProcess[bytes]:
    """Runs a short command to its end; one that can't be run fails with the system's words."""
    try:
        return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        return subprocess.CompletedProcess(command, 127, b"", str(error).encode(errors="replace"))


@contextlib.contextmanager
def on_interrupt(handler: Callable[..., object]) -> Iterator[None]:
    """Makes Control-C, SIGTERM and the closing of the terminal call a function instead of ending the process."""
    numbers = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else [])]  # nohup
    with contextlib.ExitStack() as stack:
        for number in numbers:
            stack.callback(signal.signal, number, signal.signal(number, handler))
        yield


class Processes:
    def __init__(self) -> None:
        self.stopped = threading.Event()
        self.until = math.inf  # when the last supervisor has to have answered, because they were told to end
        self._started = list[subprocess.Popen[str]]()

    def run(self, command: Sequence[str], environment: Mapping[str, str], folder: StrPath, seconds: float, output: StrPath) -> Ended:
        """Runs a command, and appends its output to a file; returns when nothing that it started is left."""
        starved, began = ended_for_memory(), time.monotonic()
        with cgroup() as group:
            if self.stopped.is_set():
                return Ended(None, 0, "interrupted")
            process = subprocess.Popen(
                [*SUPERVISOR, str(seconds), str(output), group, *command], env=environment, cwd=folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True)
            self._started.append(process)
            if self.stopped.is_set():  # which may have happened in between
                process.terminate()
            try:
                told = json.loads(self.answer(process, began + seconds + PATIENCE))
            except ValueError:  # It doesn't answer, or something ended it: this process, or the command itself.
                reason = "interrupted" if self.stopped.is_set() else "timeout" if process.poll() is None else None
                left = end_rest(process, environment["TMPDIR"])
                told = {"code": None if reason else process.returncode, "seconds": time.monotonic() - began, "reason": reason, "left": left}
        return Ended(**told, starved=None if starved is None else (ended_for_memory() or starved) - starved)

    def answer(self, process: subprocess.Popen[str], deadline: float) -> str:
        """Returns what a supervisor says; nothing if it says nothing until the deadline."""
        late = False
        while not late:
            late = time.monotonic() >= min(deadline, self.until)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.communicate(timeout=0.5)[0]
            process.send_signal(signal.SIGCONT)  # The command may have stopped it.
        return ""

    def stop(self) -> None:
        """Ends what runs, and lets nothing more start."""
        self.until = min(self.until, time.monotonic() + PATIENCE)
        self.stopped.set()
        for process in self._started:
            process.terminate()  # Does nothing to one that has ended.
