"""What a cell's result depends on, in one word: the project's files, the cell as it is defined, the tools."""

import fnmatch
import functools
import hashlib
import pathlib
import platform

from .processes import said


@functools.cache
def files(project):
    """Each file that git knows or would add, with a digest of what is in it; None without git."""
    names = said("git", "ls-files", "-coz", "--exclude-standard", cwd=project)
    if names is None:
        return None
    paths = {name: pathlib.Path(project, name) for name in names.split("\0") if name}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in sorted(paths.items()) if path.is_file()}


@functools.cache
def tools():
    return f"{platform.platform()} {said('swift', '--version')}"


def fingerprint(project, cell):
    """None where it can't be known."""
    if (known := files(project)) is None:
        return None
    own = {name: digest for name, digest in known.items() if not cell.inputs or any(fnmatch.fnmatch(name, glob) for glob in cell.inputs)}
    return hashlib.sha256(f"{own} {cell} {tools()}".encode(errors="surrogateescape")).hexdigest()
