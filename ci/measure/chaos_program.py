"""What the scripts about real faults have in common: their program."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build(configuration="debug"):
    """The program, beside `pusher-channels`, and the library that gives a process a world of its own."""
    subprocess.run(["ci/setup"], cwd=ROOT, check=True)
    # With the flags of ci/test: with others everything would be built again.
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
