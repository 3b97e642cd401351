"""Debian packages: which are there, and how the others are installed."""

import contextlib
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from .processes import on_interrupt, said

# Asked by packages' scripts before they start a service; 101 forbids it.
POLICY = pathlib.Path("/usr/sbin/policy-rc.d")


@functools.cache
def installed():
    """The names of all packages that are there; None where Debian's aren't known."""
    listed = said("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n")
    return None if listed is None else {line.removeprefix("installed ") for line in listed.splitlines() if line.startswith("installed ")}


def install(names):
    """Installs packages without having their services started; gives the reason if it can't."""
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


def status(command, told):
    """The status of a command that an interrupt ends politely and waits for: what it goes on installing must start no service either.

    An interrupt is `told` and not raised, since it may come while the command is being started, and would leave it behind.
    """
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not told:
            time.sleep(0.05)
        if told:
            with contextlib.suppress(PermissionError):  # sudo is root's.
                process.terminate()
    return process.returncode
