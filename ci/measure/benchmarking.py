"""Shared code of the scripts that measure: building, processes that end, lines of results."""

import contextlib
import os
import pathlib
import select
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "Tests/Benchmarks"
LIMIT = 120  # seconds, for each thing that is waited for


def stop(message):
    raise SystemExit(f"{pathlib.Path(sys.argv[0]).name}: {message}")


def end_with_children():
    """Makes SIGTERM end this process like any error, so that everything it started is ended, too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def build_client(product="pusher-channels"):
    """Builds `pusher-channels`, or another program of the package, for release; returns its path."""
    # The build's output isn't a result, so it goes to standard error.
    subprocess.run(["swift", "build", "-c", "release", "--product", product], cwd=ROOT, check=True, stdout=sys.stderr)
    binaries = subprocess.run(
        ["swift", "build", "-c", "release", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True)
    return pathlib.Path(binaries.stdout.strip()) / product


def compile_c(name, sources, libraries):
    """Compiles a C program with libraries that pkg-config knows; returns its path."""
    program = ROOT / ".build/benchmarks" / name
    program.parent.mkdir(parents=True, exist_ok=True)
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", *libraries], check=True, capture_output=True, text=True)
    compiler = os.environ.get("CC", "clang")
    paths = [BENCHMARKS / source for source in sources]
    subprocess.run(
        [compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program, *paths, *flags.stdout.split()],
        check=True)
    return program


@contextlib.contextmanager
def running(command, **options):
    """Runs a process that doesn't outlive the block."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                # Nobody is left to read what is still buffered.
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def next_line(process, name):
    if not select.select([process.stdout], [], [], LIMIT)[0]:
        stop(f"nothing from {name} within {LIMIT} s")
    line = process.stdout.readline()
    if not line:
        stop(f"{name} ended with status {process.wait(LIMIT)} and no result")
    return line


def port_of(server, name):
    """Returns the port from the line in which a server says where it listens."""
    return next_line(server, name).strip().rpartition(":")[2]
