"""Digests of what a cell's result depends on: the project's files, the cell's definition, the tools. Not environment variables."""

import contextlib
import fnmatch
import functools
import glob
import hashlib
import json
import os
import platform
from collections.abc import Iterator, Set

from .cells import Cell
from .processes import said


def listed(project: str | os.PathLike[str]) -> tuple[dict[str, bool], dict[str, tuple[str, ...]]]:
    """Returns, by path, whether git tracks each file that it knows or would add, or that SwiftPM compiles; and by folder the command that
    fails to say that.

    Includes the files of packages that this one depends on by path, and of folders that links lead to, but not those that ci/matrix writes.
    """
    found, failed, folders = dict[str, bool](), dict[str, tuple[str, ...]](), [os.path.realpath(project)]
    within = set[str]()
    for folder in folders:  # The list may grow meanwhile.
        command: tuple[str, ...] = ("git", "-C", folder, "ls-files", "-coz", "--exclude-standard")
        if (listing := said(*command)) is None:
            failed[folder] = command
            continue
        known = said("git", "ls-files", "-z", "--recurse-submodules", cwd=folder) or said("git", "ls-files", "-z", cwd=folder) or ""
        tracked = set(known.split("\0")) - {""}
        names = tracked | set(listing.split("\0")) - {""}
        # Package.resolved is often ignored.
        packages = {os.path.dirname(name) for name in names if os.path.basename(name) == "Package.swift"} | {""}
        names |= {os.path.join(package, "Package.resolved") for package in packages}
        for name in sorted(names):
            path = os.path.normpath(os.path.join(folder, name))  # The name of a repository in this one ends with a slash.
            found[path] = found.get(path, False) or name in tracked
        links = {os.path.realpath(path) for path in found if os.path.islink(path) and os.path.isdir(path)}
        beside = {path for path in links if not any(path == known or path.startswith(f"{known}/") for known in folders)}
        manifests = glob.glob(os.path.join(glob.escape(folder), "Package*.swift"))
        if not manifests:  # A folder of packages is made of them; what git says of one is enough if SwiftPM can't describe it.
            within |= {os.path.join(folder, package) for package in packages - {""} if not package.startswith(".")}
            beside |= within
        else:
            # Not in its .build, for which it would wait while somebody builds there.
            command = ("swift", "package", "--package-path", folder, "--scratch-path", os.path.join(folders[0], ".ci/describe"), "describe", "--type", "json")
            if (made_of := described(command, tuple((name, os.stat(name).st_mtime_ns) for name in sorted(manifests)))) is None:
                failed |= {} if folder in within else {folder: command}
            else:
                beside |= {os.path.realpath(path) for path in made_of[0] if os.path.isdir(path)}
                for path in made_of[1]:
                    found.setdefault(path, False)
        folders += sorted(beside - set(folders))
    # Checked for all folders, because one of them may contain another.
    ours = tuple(os.path.join(folder, ".ci", "") for folder in folders)
    return {path: tracked for path, tracked in found.items() if not path.startswith(ours)}, failed


@functools.cache
def described(command: tuple[str, ...], _: object) -> tuple[list[str], list[str]] | None:
    """Returns a package's packages by path and the files that it is made of, as SwiftPM describes them, until a manifest changes."""
    try:
        package = json.loads(said(*command) or "")
        files = []
        for target in package["targets"]:
            folder = os.path.join(package["path"], target["path"])
            swift = target["module_type"] in ("SwiftTarget", "PluginTarget")
            parts = target["sources"] if swift else [""]  # Others have headers, too.
            files += [file for part in (*parts, *(resource["path"] for resource in target.get("resources", ()))) for file in below(os.path.join(folder, part))]
        return [other["path"] for other in package["dependencies"] if other["type"] == "fileSystem"], files
    except (OSError, ValueError, KeyError):
        return None


def below(top: str) -> Iterator[str]:
    """Yields a file, or the files below a folder, through links, too, each folder once, and without hidden ones."""
    seen, folders = set(), [os.path.normpath(top)]
    if not os.path.isdir(top):
        yield folders.pop()
    for folder in folders:
        if (real := os.path.realpath(folder)) not in seen:
            seen.add(real)
            shown = [entry for entry in os.scandir(folder) if not entry.name.startswith(".")]
            folders += [entry.path for entry in shown if entry.is_dir()]
            yield from (entry.path for entry in shown if not entry.is_dir())


@functools.cache
def files(project: str) -> dict[str, str] | None:
    """Returns a digest of each file's content, by its path relative to the project; None if that can't be said of all."""
    (paths, failed), found = listed(project), {}
    for path in paths if not failed else ():
        with contextlib.suppress(OSError):  # The file may be another user's, or gone by now.
            if os.path.islink(path) or os.path.isfile(path):
                found[os.path.relpath(path, os.path.realpath(project))] = digest(path)
    return None if failed else found


def untracked(project: str | os.PathLike[str]) -> set[str]:
    """Returns the files that git doesn't track, by their paths relative to the project."""
    return {os.path.relpath(path, os.path.realpath(project)) for path, tracked in listed(project)[0].items() if not tracked}


def digest(path: str) -> str:
    """Returns a digest of a file's content and executable bit, as git sees them; for a link, also or only its target."""
    leads = f"{os.readlink(path)} " if os.path.islink(path) else ""
    if not os.path.isfile(path):
        return leads
    with open(path, "rb") as file:
        runs = os.fstat(file.fileno()).st_mode & 0o100
        return leads + hashlib.file_digest(file, "sha256").hexdigest() + (" runs" if runs else "")


@functools.cache
def tools(project: str) -> str:
    return f"{platform.platform()} {said('swift', '--version', cwd=project)} {said('dpkg-query', '-W')}"


def forget() -> None:
    """Forgets what is cached, so that the next call looks again."""
    for known in (described, files, tools):
        known.cache_clear()


def pattern(glob: str) -> str:
    """Returns a glob's pattern: `*` matches across folders, `**/` also matches none, and a slash at the end matches all of a folder."""
    return glob.replace("**/", "*") + ("*" if glob.endswith("/") else "")


def unmatched(project: str, cell: Cell) -> list[str]:
    """Returns the cell's globs that match no file."""
    return [glob for glob in cell.inputs if not fnmatch.filter(files(project) or (), pattern(glob))]


def resolved(project: str) -> set[str]:
    """Returns the files that list the resolved packages: the first build writes them, and git often ignores them."""
    return {name for name in files(project) or () if os.path.basename(name) == "Package.resolved"}


def fingerprint(project: str, cell: Cell, report: str | None = None, made: Set[str] = frozenset()) -> str | None:
    """Returns a digest of what the cell's result depends on; None without git, or if one of the cell's globs matches nothing.

    Leaves out what a run writes: its report, and the files that it made.
    """
    if (known := files(project)) is None or unmatched(project, cell):
        return None
    globs = [pattern(glob) for glob in cell.inputs]
    own = {name: digest for name, digest in known.items()
           if name != report and name not in made and (not globs or any(fnmatch.fnmatch(name, glob) for glob in globs))}
    return hashlib.sha256(f"{own} {cell} {tools(project)}".encode(errors="surrogateescape")).hexdigest()
