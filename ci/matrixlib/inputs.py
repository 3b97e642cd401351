"""What a cell's result depends on, in one word: the project's files, the cell as it is defined, the tools. Not variables of the environment."""

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


def listed(project):
    """Whether git tracks it, by the path of each file that it knows or would add, of packages that this one has by path, too, but for
    those of ci/matrix; and the folders of which git can't say that."""
    found, failed, folders = {}, [], [os.path.realpath(project)]
    for folder in folders:  # Which may grow meanwhile.
        names = said("git", "ls-files", "-coz", "--exclude-standard", cwd=folder)
        if names is None:
            failed.append(folder)
            continue
        tracked = said("git", "ls-files", "-z", "--recurse-submodules", cwd=folder) or said("git", "ls-files", "-z", cwd=folder) or ""
        tracked = set(tracked.split("\0")) - {""}
        names = tracked | set(names.split("\0")) - {""}
        # Often ignored.
        manifests = {name for name in names if os.path.basename(name) == "Package.swift"} | {"Package.swift"}
        names |= {os.path.join(os.path.dirname(name), "Package.resolved") for name in manifests}
        for name in sorted(names):
            path = os.path.normpath(os.path.join(folder, name))  # A repository in this one ends with a slash.
            found[path] = found.get(path, False) or name in tracked
        with contextlib.suppress(OSError):
            manifest = pathlib.Path(folder, "Package.swift").read_text(errors="replace")
            beside = {os.path.realpath(os.path.join(folder, path)) for path in BY_PATH.findall(manifest)}
            folders += sorted(path for path in beside if path not in folders and os.path.isdir(path))
    # Also where one of the folders holds another.
    ours = tuple(os.path.join(folder, ".ci", "") for folder in folders)
    return {path: tracked for path, tracked in found.items() if not path.startswith(ours)}, failed


@functools.cache
def files(project):
    """What is in each of them, as a digest, by its name seen from the project's folder; None where git can't say what there is."""
    (paths, failed), found = listed(project), {}
    for path in paths if not failed else ():
        with contextlib.suppress(OSError):  # Another user's, or gone by now.
            if os.path.islink(path) or os.path.isfile(path):
                found[os.path.relpath(path, os.path.realpath(project))] = digest(path)
    return None if failed else found


def untracked(project):
    """Those that git doesn't track, by their names seen from the project's folder."""
    return {os.path.relpath(path, os.path.realpath(project)) for path, tracked in listed(project)[0].items() if not tracked}


def digest(path):
    """Of what is in a file and of whether it runs, as git sees it; of a link also where it leads, or that alone if it is no file."""
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
    """Looks again from now on."""
    for known in (files, tools):
        known.cache_clear()


def pattern(glob):
    """A star fits folders, too, also none where a slash follows two of them; what ends with a slash is all that is in a folder."""
    return glob.replace("**/", "*") + ("*" if glob.endswith("/") else "")


def unmatched(project, cell):
    """Those of the cell's globs that no file fits."""
    return [glob for glob in cell.inputs if not fnmatch.filter(files(project) or (), pattern(glob))]


def resolved(project):
    """The files that say which packages there are: the first build writes them, which git often ignores."""
    return {name for name in files(project) or () if os.path.basename(name) == "Package.resolved"}


def fingerprint(project, cell, report=None, made=()):
    """None where it can't be known: without git, or where one of the cell's globs matches nothing. What a run writes is no part of it: its
    report, and the files that it made."""
    if (known := files(project)) is None or unmatched(project, cell):
        return None
    globs = [pattern(glob) for glob in cell.inputs]
    own = {name: digest for name, digest in known.items()
           if name != report and name not in made and (not globs or any(fnmatch.fnmatch(name, glob) for glob in globs))}
    return hashlib.sha256(f"{own} {cell} {tools(project)}".encode(errors="surrogateescape")).hexdigest()
