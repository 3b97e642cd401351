"""`ci/matrix run --watch`: runs again when a file that git tracks has changed."""

import contextlib
import os
import pathlib
import sys
import time

from .problems import Problem
from .processes import said
from .runner import INTERRUPTED
from .screen import to_nowhere

# Seconds between two looks: an editor that writes several files has ended when one look finds what the last one did.
PAUSE = 0.3


def stamps(project):
    """When each tracked file was last written; without those that are gone."""
    names = said("git", "ls-files", "-z", cwd=project)
    if names is None:
        raise Problem(f"--watch looks at what git tracks, and {project} is no folder of git's")
    found = {}
    for name in names.split("\0")[:-1]:
        with contextlib.suppress(OSError):
            status = os.stat(pathlib.Path(project, name))
            found[name] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def watch(project, once, look=stamps, pause=time.sleep):
    """Runs again and again until a run is interrupted, or nobody reads. What changes while it runs counts, too."""
    with contextlib.suppress(BrokenPipeError):
        while True:
            before = last = look(project)
            try:
                if once() == INTERRUPTED:
                    return INTERRUPTED
            except Problem as problem:
                print(f"ci/matrix: {problem}")  # Such as cells.toml in the middle of an edit.
            print("waiting for changes; Control-C ends", flush=True)
            while (now := look(project)) == before or now != last:
                last = now
                pause(PAUSE)
            names = sorted(name for name in {**before, **now} if before.get(name) != now.get(name))
            print(f"\nchanged: {', '.join(names[:5])}{', …' if len(names) > 5 else ''}".encode(errors="replace").decode(), flush=True)
    to_nowhere(sys.stdout)
    return INTERRUPTED
