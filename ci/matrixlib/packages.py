"""Debian packages: which ones are installed, and how to install others."""

import contextlib
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence

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
    if not names:
        return None
    if not shutil.which("apt-get"):
        return "only Debian and Ubuntu are known here"
    root = ["sudo"] if os.geteuid() else []
    if root and not shutil.which("sudo"):
        return "neither root nor sudo"
    ours = not POLICY.exists()
    if not ours and subprocess.run([POLICY, names[0], "start"], capture_output=True).returncode != 101:
        return f"{POLICY} would let services start"
    print(f"installing {' '.join(names)}", flush=True)
    told = []
    with on_interrupt(lambda *_: told.append(True)), tempfile.NamedTemporaryFile("w") as file:
        file.write("#!/bin/sh\nexit 101\n")
        file.flush()
        try:
            if ours and subprocess.run([*root, "install", "-m", "755", file.name, POLICY]).returncode != 0:
                return f"{POLICY} could not be written"
            for words in (["update", "-qq"], ["install", "-y", "-qq", *names]):
                if told:
                    break
                if status([*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *words], told) != 0:
                    return f"apt-get {words[0]} failed"
        finally:
            if ours:
                subprocess.run([*root, "rm", "-f", POLICY])
            if told:
                raise KeyboardInterrupt
    return None


def status(command: Sequence[str], told: list[bool]) -> int:
    """Runs a command and returns its status. An interrupt ends it politely, and waits, so that what it still installs starts no service.

    An interrupt is put into `told`, not raised: one that comes while the command is being started would leave the command behind.
    """
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not told:
            time.sleep(0.05)
        if told:
            with contextlib.suppress(PermissionError):  # sudo belongs to root.
                process.terminate()
    return process.returncode
