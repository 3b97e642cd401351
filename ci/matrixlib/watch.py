"""`ci/matrix run --watch`: runs again when a file that --changed looks at has changed."""

import contextlib
import os
import sys
import time
from collections.abc import Callable

from .inputs import Listing, untracked
from .problems import Problem, StrPath
from .processes import fault
from .run import INTERRUPTED
from .screen import to_nowhere

# Seconds between two looks: an editor that writes several files is done when a look finds the same as the one before.
PAUSE = 0.3
Stamps = dict[str, tuple[int, int, int]]


def stamps(project: StrPath) -> Stamps:
    """Returns when each file was last written, without those that are gone, and without packages by path that git doesn't know."""
    listing, found = Listing(project), {}
    if (command := listing.failed.get(str(project), ("",)))[0] == "git":
        raise Problem(f"--watch looks at what git tracks, and git can't say that of {project}: {fault(*command)}")
    for name in listing.tracked:
        with contextlib.suppress(OSError):
            status = os.stat(os.path.join(project, name))
            found[name] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def watch(project: StrPath, once: Callable[[], int], look: Callable[[StrPath], Stamps] = stamps,
          pause: Callable[[float], object] = time.sleep) -> int:
    """Runs after each change until a run is interrupted, or nobody reads the output. Changes during a run count, too, except for files
    that git doesn't track: an edit of a new file can't be told from what the run wrote."""
    with contextlib.suppress(BrokenPipeError):
        while True:
            before, written = look(project), untracked(project)
            try:
                if once() == INTERRUPTED:
                    return INTERRUPTED
            except Problem as problem:
                print(f"matrix: {problem}")  # Such as cells.toml in the middle of an edit.
            last = look(project)
            # The run may have written or removed files that git doesn't track, as it would each time.
            written |= untracked(project)
            before = {name: stamp for name, stamp in before.items() if name not in written}
            before |= {name: last[name] for name in written if name in last}
            print("waiting for changes; Control-C ends", flush=True)
            while (now := look(project)) == before or now != last:
                last = now
                pause(PAUSE)
            names = sorted(name for name in before | now if before.get(name) != now.get(name))
            more = ", …" if len(names) > 5 else ""
            print(f"\nchanged: {', '.join(names[:5])}{more}", flush=True)
    to_nowhere(sys.stdout)
    return INTERRUPTED
