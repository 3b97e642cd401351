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


def metric(name, value):
    """Writes a figure that ci/matrix keeps with a cell's result; `ci/matrix compare` shows each that differs, so give it few digits."""
    if file := os.environ.get("CI_METRICS"):
        with open(file, "a", encoding="utf-8") as metrics:
            metrics.write(f"{name}={value}\n")


def end_with_children():
    """Makes SIGTERM end this process like any error, so that everything it started is ended, too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def build(*products, options=("-c", "release")):
    """Builds programs of the package; returns their folder."""
    for product in products:
        # The build's output isn't a result, so it goes to standard error.
        subprocess.run([ROOT / "ci/tools/build", *options, "--product", product], check=True, stdout=sys.stderr)
    binaries = subprocess.run([ROOT / "ci/tools/build", *options, "--show-bin-path"], check=True, capture_output=True, text=True)
    return pathlib.Path(binaries.stdout.strip())


def build_chaos(*options):
    """Builds the program about real faults; returns it, and the library that replaces a process's name server and clock."""
    subprocess.run(["ci/setup"], cwd=ROOT, check=True)
    folder = build("chaos", "pusher-channels", options=options)
    world = compile_c("chaos-world.so", ["../Chaos/World/world.c"], [], "-shared", "-fPIC", "-ldl")
    return folder / "chaos", world


def compile_c(name, sources, libraries, *options):
    """Compiles a C program with libraries that pkg-config knows; returns its path."""
    program = ROOT / ".build/benchmarks" / name
    program.parent.mkdir(parents=True, exist_ok=True)
    flags = libraries and subprocess.run(
        ["pkg-config", "--cflags", "--libs", *libraries], check=True, capture_output=True, text=True).stdout.split()
    paths = [BENCHMARKS / source for source in sources]
    compiler = [os.environ.get("CC", "clang"), "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread"]
    subprocess.run([*compiler, "-o", program, *paths, *options, *flags], check=True)
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
