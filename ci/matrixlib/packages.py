"""Debian packages: which ones are installed, and how to install others."""

import contextlib
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence

from .processes import on_interrupt, said

# Packages' scripts run this before they start a service; status 101 forbids it.
POLICY = pathlib.Path("/usr/sbin/policy-rc.d")


@functools.cache
def installed() -> set[str] | None:
    """Returns the names of all installed packages; None if this isn't a system with Debian packages."""
    listed = said("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n")
    return None if listed is None else {line.removeprefix("installed ") for line in listed.splitlines() if line.startswith("installed ")}


def install(names: Sequence[str]) -> str | None:
    """Installs packages without starting their services; returns the reason if it can't."""
    root = ["sudo"] if os.geteuid() else []
    if root and not shutil.which("sudo"):
        return "neither root nor sudo"
    print(f"installing {' '.join(names)}", flush=True)
    told = list[bool]()
    with on_interrupt(lambda *_: told.append(True)), services_forbidden(root) as problem:
        for words in (["update", "-qq"], ["install", "-y", "-qq", *names]):
            if not problem and not told and status([*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *words], told) != 0:
                problem = f"apt-get {words[0]} failed"
    if told:
        raise KeyboardInterrupt
    return problem


@contextlib.contextmanager
def services_forbidden(root: Sequence[str]) -> Iterator[str | None]:
    """Keeps packages' scripts from starting services; yields the reason if it can't."""
    if POLICY.exists():
        forbids = subprocess.run([POLICY, "any", "start"], capture_output=True).returncode == 101
        yield None if forbids else f"{POLICY} would let services start"
        return
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("#!/bin/sh\nexit 101\n")
        file.flush()
        try:
            written = subprocess.run([*root, "install", "-m", "755", file.name, POLICY]).returncode == 0
            yield None if written else f"{POLICY} could not be written"
        finally:
            subprocess.run([*root, "rm", "-f", POLICY])


def status(command: Sequence[str], told: list[bool]) -> int:
    """Runs a command and returns its status. An interrupt ends it politely, and waits, so that what it still installs starts no service.
    It is put into `told`, not raised: one that comes while the command is being started would leave the command behind."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not told:
            time.sleep(0.05)
        if told:
            with contextlib.suppress(PermissionError):  # sudo belongs to root.
                process.terminate()
    return process.returncode
