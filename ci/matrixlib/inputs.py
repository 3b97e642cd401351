"""What a cell's result depends on, in one word: the project's files, the cell as it is defined, the tools."""

import contextlib
import fnmatch
import functools
import hashlib
import os
import pathlib
import platform
import re

from .processes import said

BY_PATH = re.compile(r'\.package\([^)]*?\bpath:\s*"([^"]+)"')


@functools.cache
def files(project):
    """Each file that git knows or would add, of packages that this one has by path, too, with a digest of what is in it; None without git."""
    found, folders = {}, [os.path.realpath(project)]
    for folder in folders:  # Which may grow meanwhile.
        names = said("git", "ls-files", "-coz", "--exclude-standard", cwd=folder)
        if names is None:
            return None
        names += (said("git", "ls-files", "-z", "--recurse-submodules", cwd=folder) or "") + "Package.resolved"  # Often ignored.
        for path in filter(os.path.isfile, sorted({os.path.join(folder, name) for name in names.split("\0")})):
            with contextlib.suppress(OSError), open(path, "rb") as file:  # Another user's, or gone by now.
                runs = os.fstat(file.fileno()).st_mode & 0o100  # As git sees it: a script that lost this is another one.
                found[os.path.relpath(path, folders[0])] = hashlib.file_digest(file, "sha256").hexdigest() + (" runs" if runs else "")
        with contextlib.suppress(OSError):
            manifest = pathlib.Path(folder, "Package.swift").read_text(errors="replace")
            beside = {os.path.realpath(os.path.join(folder, path)) for path in BY_PATH.findall(manifest)}
            folders += sorted(path for path in beside if path not in folders and os.path.isdir(path))
    return found


@functools.cache
def tools():
    return f"{platform.platform()} {said('swift', '--version')} {said('dpkg-query', '-W')}"


def fingerprint(project, cell):
    """None where it can't be known: without git, or where one of the cell's globs matches nothing."""
    if (known := files(project)) is None or not all(fnmatch.filter(known, glob) for glob in cell.inputs):
        return None
    own = {name: digest for name, digest in known.items() if not cell.inputs or any(fnmatch.fnmatch(name, glob) for glob in cell.inputs)}
    return hashlib.sha256(f"{own} {cell} {tools()}".encode(errors="surrogateescape")).hexdigest()
