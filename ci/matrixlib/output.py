"""Writes a command's output into a file of limited size: the beginning, the end, and of the rest the lines that matter."""

import contextlib
import fcntl
import os
import re
import select

# The most bytes of the beginning, of the lines that matter after it, and of the end.
HEAD, MATTERS, TAIL = 24 << 20, 4 << 20, 4 << 20
PIECE = 1 << 18
# The lines that matter: XCTest's results, failures and runs, messages of compilers and sanitizers, how a process ended.
MATTER = re.compile(rb"Test (Case|Suite) '|: error: |Sanitizer: |^\*\*\* |Fatal error: |unexpected signal")


class Output:
    """The reading end of a pipe that the command writes to."""

    def __init__(self, file: str) -> None:
        self.reading, self.writing = os.pipe()
        os.set_blocking(self.reading, False)
        with contextlib.suppress(OSError, AttributeError):  # On other systems than Linux, the pipe keeps its size.
            fcntl.fcntl(self.reading, fcntl.F_SETPIPE_SZ, 1 << 20)
        self.file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.room, self.left, self.problem = HEAD, MATTERS, 0  # the errno of why it could not be written
        self.tail, self.dropped, self.rest, self.is_over = bytearray(), 0, b"", False

    def wait(self, seconds: float) -> None:
        """Waits until something is written, and takes it, or until the time is up."""
        if select.select([] if self.is_over else [self.reading], [], [], seconds)[0]:
            self.take()

    def take(self) -> None:
        """Takes what is there, but for no more than a fraction of a second, because there are other things to look after."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(64):
                if not (piece := os.read(self.reading, PIECE)):
                    self.is_over = True
                    return
                self.add(piece)

    def add(self, piece: bytes) -> None:
        self.write(piece[:self.room])
        self.rest = (self.rest + piece[:self.room]).rpartition(b"\n")[2][-4096:]  # A line that is cut here is said whole below.
        self.tail += piece[self.room:]
        self.room = max(0, self.room - len(piece))
        if (excess := len(self.tail) - TAIL) > 0:
            self.drop(bytes(self.tail[:excess]))
            del self.tail[:excess]

    def drop(self, piece: bytes) -> None:
        if not self.dropped:
            self.write(b"\n... what matters of what is left out here:\n")
        self.dropped += len(piece)
        *lines, self.rest = (self.rest + piece).split(b"\n")
        self.rest = self.rest[-4096:]  # A line without an end doesn't matter.
        for line in lines:
            if self.left > 0 and MATTER.search(line):
                self.write(line[:2000] + b"\n")
                self.left -= len(line)

    def write(self, piece: bytes) -> None:
        """Writes a piece; an error, such as a full disk, is reported at the end, and doesn't end the command."""
        while piece and not self.problem:
            try:
                piece = piece[os.write(self.file, piece):]
            except OSError as error:
                self.problem = error.errno or 0

    def close(self) -> None:
        self.take()
        if self.dropped:
            self.write(f"... {self.dropped - MATTERS + self.left} bytes were left out; the end:\n".encode() + self.rest)
        self.write(bytes(self.tail))
        os.close(self.reading)
        os.close(self.file)
