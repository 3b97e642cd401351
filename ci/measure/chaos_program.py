"""Builds the program that the scripts about real faults share."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build(configuration="debug"):
    """Builds the program and `pusher-channels`; returns the program, and the library that replaces a process's name server and clock."""
    subprocess.run(["ci/setup"], cwd=ROOT, check=True)
    # The same flags as in ci/test, because others would cause a full rebuild.
    command = ["swift", "build", "-c", configuration, "-Xswiftc", "-warnings-as-errors"]
    for product in ("chaos", "pusher-channels"):
        subprocess.run([*command, "--product", product], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    binaries = subprocess.run(
        ["swift", "build", "-c", configuration, "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True)
    folder = pathlib.Path(binaries.stdout.strip())
    world = folder / "chaos-world.so"
    subprocess.run(
        [os.environ.get("CC", "clang"), "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", world,
         ROOT / "Tests/Chaos/World/world.c", "-ldl"], check=True)
    return folder / "chaos", world
