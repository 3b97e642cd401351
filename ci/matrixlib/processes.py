"""Runs the commands of steps under supervise.py, several at a time, and ends them all on request."""

import dataclasses
import json
import pathlib
import subprocess
import sys
import threading

SUPERVISOR = pathlib.Path(__file__).with_name("supervise.py")


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code (negative: the signal), or why it was ended before it had one."""
    code: int | None
    seconds: float
    reason: str | None = None  # "timeout" or "interrupted"
    left: tuple = ()  # the names of processes that it had left behind
    unkillable: tuple = ()


class Processes:
    def __init__(self):
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._running = set()

    def run(self, command, environment, folder, seconds, output):
        """Appends what the command says to a file; returns when nothing that it started is left."""
        supervised = [sys.executable, "-I", "-S", str(SUPERVISOR), str(seconds), str(output), *command]
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
            return Ended(process.returncode, 0, "interrupted" if self.stopped.is_set() else None)
        return Ended(told["exit"], told["seconds"], told["ended"], tuple(told["left"]), tuple(told["unkillable"]))

    def stop(self):
        """Ends what runs; nothing is started any more. From a handler of a signal, while another thread may hold the lock."""
        self.stopped.set()
        for process in list(self._running):
            process.terminate()
