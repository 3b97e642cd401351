"""Digests of what a cell's result depends on: the project's files, the cell's definition, the tools. Not environment variables."""

import contextlib
import fnmatch
import functools
import hashlib
import os
import platform
import re

from .problems import regular
from .processes import said

BY_PATH = re.compile(r'\.package\([^)]*?\bpath:\s*"([^"]+)"')


def listed(project):
    """Returns, by path, whether git tracks each file that it knows or would add, and the folders for which git can't say that.

    Includes the files of packages that this one depends on by path, but not those that ci/matrix writes.
    """
    found, failed, folders = {}, [], [os.path.realpath(project)]
    for folder in folders:  # The list may grow meanwhile.
        names = said("git", "ls-files", "-coz", "--exclude-standard", cwd=folder)
        if names is None:
            failed.append(folder)
            continue
        tracked = said("git", "ls-files", "-z", "--recurse-submodules", cwd=folder) or said("git", "ls-files", "-z", cwd=folder) or ""
        tracked = set(tracked.split("\0")) - {""}
        names = tracked | set(names.split("\0")) - {""}
        # Package.resolved is often ignored.
        manifests = {name for name in names if os.path.basename(name) == "Package.swift"} | {"Package.swift"}
        names |= {os.path.join(os.path.dirname(name), "Package.resolved") for name in manifests}
        for name in sorted(names):
            path = os.path.normpath(os.path.join(folder, name))  # The name of a repository in this one ends with a slash.
            found[path] = found.get(path, False) or name in tracked
        with contextlib.suppress(OSError):
            with regular(os.path.join(folder, "Package.swift")) as manifest:
                beside = {os.path.realpath(os.path.join(folder, path)) for path in BY_PATH.findall(manifest.read())}
            folders += sorted(path for path in beside if path not in folders and os.path.isdir(path))
    # Checked for all folders, because one of them may contain another.
    ours = tuple(os.path.join(folder, ".ci", "") for folder in folders)
    return {path: tracked for path, tracked in found.items() if not path.startswith(ours)}, failed


@functools.cache
def files(project):
    """Returns a digest of each file's content, by its path relative to the project; None if git can't say which files there are."""
    (paths, failed), found = listed(project), {}
    for path in paths if not failed else ():
        with contextlib.suppress(OSError):  # The file may be another user's, or gone by now.
            if os.path.islink(path) or os.path.isfile(path):
                found[os.path.relpath(path, os.path.realpath(project))] = digest(path)
    return None if failed else found


def untracked(project):
    """Returns the files that git doesn't track, by their paths relative to the project."""
    return {os.path.relpath(path, os.path.realpath(project)) for path, tracked in listed(project)[0].items() if not tracked}


def digest(path):
    """Returns a digest of a file's content and executable bit, as git sees them; for a link, also or only its target."""
    leads = f"{os.readlink(path)} " if os.path.islink(path) else ""
    if not os.path.isfile(path):
        return leads
    with open(path, "rb") as file:
        runs = os.fstat(file.fileno()).st_mode & 0o100
        return leads + hashlib.file_digest(file, "sha256").hexdigest() + (" runs" if runs else "")


@functools.cache
def tools(project):
    return f"{platform.platform()} {said('swift', '--version', cwd=project)} {said('dpkg-query', '-W')}"


def forget():
    """Forgets what is cached, so that the next call looks again."""
    for known in (files, tools):
        known.cache_clear()


def pattern(glob):
    """Returns a glob's pattern: `*` matches across folders, `**/` also matches none, and a slash at the end matches all of a folder."""
    return glob.replace("**/", "*") + ("*" if glob.endswith("/") else "")


def unmatched(project, cell):
    """Returns the cell's globs that match no file."""
    return [glob for glob in cell.inputs if not fnmatch.filter(files(project) or (), pattern(glob))]


def resolved(project):
    """Returns the files that list the resolved packages: the first build writes them, and git often ignores them."""
    return {name for name in files(project) or () if os.path.basename(name) == "Package.resolved"}


def fingerprint(project, cell, report=None, made=()):
    """Returns a digest of what the cell's result depends on; None without git, or if one of the cell's globs matches nothing.

    Leaves out what a run writes: its report, and the files that it made.
    """
    if (known := files(project)) is None or unmatched(project, cell):
        return None
    globs = [pattern(glob) for glob in cell.inputs]
    own = {name: digest for name, digest in known.items()
           if name != report and name not in made and (not globs or any(fnmatch.fnmatch(name, glob) for glob in globs))}
    return hashlib.sha256(f"{own} {cell} {tools(project)}".encode(errors="surrogateescape")).hexdigest()
