"""Digests of what a cell's result depends on: the project's files, the cell's definition, the tools. Not environment variables."""

import contextlib
import fnmatch
import functools
import glob
import hashlib
import json
import os
import pathlib
import platform
import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence, Set

from .cells import Cell
from .history import History
from .problems import StrPath
from .processes import said
from .requirements import on_ci
from .results import CellResult, kept
from .shell import Places


class Listing:
    """The files that git knows or would add, and that SwiftPM compiles, of a project, of its packages by path, and of folders behind links."""

    def __init__(self, project: StrPath) -> None:
        self.tracked = dict[str, bool]()  # whether git tracks a file, by its path, which in the end is relative to the project
        self.failed = dict[str, tuple[str, ...]]()  # by folder, the command that fails to say what is there
        self.folders = [str(project)]
        self.within = set[str]()  # packages in a folder of packages: what git says of one is enough if SwiftPM can't describe it
        for folder in self.folders:  # The list grows meanwhile.
            if (packages := self.add_known(folder)) is not None:
                if not manifests(folder):
                    self.within |= {os.path.join(folder, package) for package in packages if package and not package.startswith(".")}
                beside = self.linked() | (self.described(folder) if manifests(folder) else self.within)
                self.folders += sorted(beside - set(self.folders))
        # swift format looks in the folders above, too. A change there during a run counts, since no run writes there.
        above = dict.fromkeys((str(folder / ".swift-format") for folder in pathlib.Path(self.folders[0]).parents), True)
        # Checked for all folders, because one of them may contain another.
        ours = tuple(os.path.join(folder, ".ci", "") for folder in self.folders)
        found = above | {path: tracked for path, tracked in self.tracked.items() if not path.startswith(ours)}
        self.tracked = {os.path.relpath(path, project): tracked for path, tracked in found.items()}

    def add_known(self, folder: str) -> set[str] | None:
        """Adds what git knows of a folder, or would add; returns the packages there, as paths in it; None if git can't say."""
        command = ("git", "-C", folder, "ls-files", "-coz", "--exclude-standard")
        if (listing := said(*command)) is None:
            self.failed[folder] = command
            return None
        known = said("git", "ls-files", "-z", "--recurse-submodules", cwd=folder) or said("git", "ls-files", "-z", cwd=folder) or ""
        tracked = set(known.split("\0")) - {""}
        names = tracked | set(listing.split("\0")) - {""}
        packages = {os.path.dirname(name) for name in names if os.path.basename(name) == "Package.swift"}
        names |= {os.path.join(package, "Package.resolved") for package in packages | {""}}  # It is often ignored.
        for name in sorted(names):
            path = os.path.normpath(os.path.join(folder, name))  # The name of a repository in this one ends with a slash.
            self.tracked[path] = self.tracked.get(path, False) or name in tracked
        return packages

    def linked(self) -> set[str]:
        """Returns the folders outside of the known ones that links lead to."""
        links = {os.path.realpath(path) for path in self.tracked if os.path.islink(path) and os.path.isdir(path)}
        return {path for path in links if not any(path == known or path.startswith(f"{known}/") for known in self.folders)}

    def described(self, folder: str) -> set[str]:
        """Adds what a package is made of; returns its packages by path."""
        # Not in its .build, for which it would wait while somebody builds there.
        scratch = os.path.join(self.folders[0], ".ci/describe")
        command = ("swift", "package", "--package-path", folder, "--scratch-path", scratch, "describe", "--type", "json")
        made_of = described(command, tuple((name, os.stat(name).st_mtime_ns) for name in manifests(folder)))
        if made_of is None:
            self.failed |= {} if folder in self.within else {folder: command}
            return set()
        packages, files = made_of
        self.tracked = dict.fromkeys(files, False) | self.tracked
        return {os.path.realpath(path) for path in packages if os.path.isdir(path)}


def manifests(folder: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(folder), "Package*.swift")))


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
    """Returns a digest of each file, or a link's target, by its path relative to the project; None if that can't be said of all."""
    listing, found = Listing(project), {}
    for name in listing.tracked if not listing.failed else ():
        path = os.path.join(project, name)
        with contextlib.suppress(OSError):  # The file may be another user's, or gone by now.
            digest = f"{os.readlink(path)} " if os.path.islink(path) else ""
            if os.path.isfile(path):
                with open(path, "rb") as file:  # Its executable bit counts, as for git.
                    runs = os.fstat(file.fileno()).st_mode & 0o100
                    digest += hashlib.file_digest(file, "sha256").hexdigest() + (" runs" if runs else "")
            if digest:
                found[name] = digest
    return None if listing.failed else found


def untracked(project: StrPath) -> set[str]:
    """Returns the files that git doesn't track, by their paths relative to the project."""
    return {name for name, is_tracked in Listing(project).tracked.items() if not is_tracked}


@functools.cache
def tools(project: str) -> str:
    return f"{platform.platform()} {said('swift', '--version', cwd=project)} {said('dpkg-query', '-W')}"


class Inputs:
    """What the results of cells depend on, as it is before they run, and again afterward."""

    def __init__(self, options: Namespace, cells: Sequence[Cell], places: Places, history: History) -> None:
        for known in (described, files, tools):
            known.cache_clear()
        self.cells, self.project, self.places, self.history = cells, str(places.project), places, history
        self.leaves_out = options.changed == "ci" or options.changed and not on_ci()
        self.report = options.report and os.path.relpath(os.path.realpath(options.report), places.project)
        self.before = {cell.id: self.of(cell) for cell in cells}
        self.resolved = self.found_resolved()

    def found_resolved(self) -> set[str]:
        """Returns the files that list the resolved packages: the first build writes them, and git often ignores them."""
        return {name for name in files(self.project) or () if os.path.basename(name) == "Package.resolved"}

    def matched(self, glob: str) -> list[str]:
        """Returns the files that fit: `*` matches across folders, `**/` also none, and a slash at the end all of a folder."""
        return fnmatch.filter(files(self.project) or (), glob.replace("**/", "*") + ("*" if glob.endswith("/") else ""))

    def of(self, cell: Cell, made: Set[str] = frozenset()) -> str | None:
        """Returns a digest of what the cell's result depends on, without what a run writes; None without git, or if a glob fits nothing."""
        known, matches = files(self.project), [self.matched(glob) for glob in cell.inputs]
        if known is None or not all(matches):
            return None
        fits = {name for names in matches for name in names} if matches else known.keys()
        own = {name: known[name] for name in known if name in fits and name != self.report and name not in made}
        return hashlib.sha256(f"{own} {cell} {tools(self.project)}".encode(errors="surrogateescape")).hexdigest()

    def unchanged(self, cell: Cell) -> CellResult | None:
        """Returns the result of the cell's last run, if --changed leaves it out: nothing changed for it, nor for cells that it needs."""
        these = [other for other in self.cells if other.id in {cell.id, *cell.needs}]
        is_same = self.leaves_out and all(self.history.inputs(other) == (self.of(other) or "not known") for other in these)
        return kept(self.places.result(cell), cell.id, self.of(cell)) if is_same else None

    def doubts(self) -> Iterator[str]:
        """Yields why --changed leaves out less than it could."""
        if not self.leaves_out:
            return
        for command in Listing(self.project).failed.values():
            yield f"matrix: --changed runs all of them, because this fails, which says what their files are: {shlex.join(command)}"
        for cell in self.cells if files(self.project) is not None else ():
            for pattern in cell.inputs:
                if not self.matched(pattern):
                    yield (f"matrix: {cell.id}: no file below the project's folder fits '{pattern}' of its inputs, "
                           "so that --changed doesn't leave it out")

    def keep(self, found: list[CellResult]) -> None:
        """Keeps them with the results. If they changed meanwhile, they aren't what passed, except for what a first build writes."""
        files.cache_clear()
        made = self.found_resolved() - self.resolved
        for cell, result in zip(self.cells, found):
            result.inputs = self.of(cell) if self.of(cell, made) == self.before[cell.id] else None
