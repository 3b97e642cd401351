"""`ci/matrix init`: writes a first cells.toml for a Swift package, and the hosted workflow that runs it."""

import os
import pathlib
import re

from .problems import Problem, program
from .processes import fault, said

HOME = pathlib.Path(__file__).resolve().parents[2]
FIRST = pathlib.Path(__file__).with_name("first")


def init(project):
    """Writes the files, unless one of them is already there; yields the lines to print."""
    if not (project / "Package.swift").exists():
        raise Problem(f"{project} has no Package.swift: --project names the folder of a package")
    root = repository(project)
    folder = os.path.relpath(os.path.realpath(project), root)
    if not re.fullmatch(r"[\w./][\w./-]*", folder, re.ASCII):
        raise Problem(f"the workflow could not name the folder '{folder}': ASCII letters, digits and ._-/ are what it may have, and no - comes first")
    file = place(root, folder)
    hosted = os.path.relpath(file, os.path.realpath(project))
    name, commit = "CI matrix" if file.name.startswith("matrix") else "CI", revision()
    files = {"ci/cells.toml": (FIRST / "cells.toml").read_bytes(), hosted: workflow(folder, name, commit)}
    there = [name for name in files if (project / name).exists()]
    if "ci/cells.toml" in there:
        raise Problem(f"already there: {', '.join(there)}; {program(project)} run runs them, or move them away and begin anew")
    if there:
        raise Problem(f"already there: {hosted}; move it away and begin anew")
    # The format of the sources that `swift package init` writes; swift format's own default is two spaces.
    formatted = {} if has_format(project, root) else {".swift-format": (FIRST / "swift-format.json").read_bytes()}
    ignored = project / ".gitignore"
    known = ignored.read_bytes() if ignored.exists() else b""
    if b".ci/" not in known.split():
        ignored.write_bytes(known + (b"" if known[-1:] in (b"", b"\n") else b"\n") + b".ci/\n")
        yield "added .ci/ to .gitignore"
    written = []
    try:
        for name, text in (files | formatted).items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            written.append(project / name)
            written[-1].write_bytes(text)
            yield f"wrote {name}"
        if commit == "main":
            yield "its REVISION is main, whatever that is then: no branch of a remote is known to have the commit of this ci/matrix"
    except OSError:
        for file in written:  # Removes all rather than leaving half of them, so that `init` can be run again.
            file.unlink(missing_ok=True)
        raise


def repository(project):
    """Returns the root of the package's repository, where GitHub looks for workflows; without a repository, the package's folder."""
    own, words = pathlib.Path(os.path.realpath(project)), ("git", "rev-parse", "--show-toplevel")
    if top := said(*words, cwd=project):
        return pathlib.Path(os.path.realpath(top.removesuffix("\n")))
    if any((folder / ".git").exists() for folder in (own, *own.parents)):
        raise Problem(f"git can't say which repository {project} is in: {fault(*words, cwd=project)}")
    return own


def workflow(folder, name, commit):
    """Returns the hosted workflow of a package in a folder of its repository; the names of its jobs say which package they are for."""
    name = name if folder == "." else f"{name} {folder}"
    text = (FIRST / "workflow.yml").read_text().replace("REVISION: main", f"REVISION: {commit}").replace("--project .", f"--project {folder}")
    text = text.replace("name: CI", f"name: {name}")
    return (text if folder == "." else text.replace(" .ci/", f" {folder}/.ci/")).encode()


def revision():
    """Returns the commit of this ci/matrix if a runner can get it, or else main; a copy without git, or in another repository, has none."""
    top, commit = (said("git", "rev-parse", what, cwd=HOME) or "" for what in ("--show-toplevel", "HEAD"))
    there = top.strip() == str(HOME) and said("git", "branch", "-r", "--contains", "HEAD", cwd=HOME)
    return commit.strip() if there else "main"


def place(root, folder):
    """Returns the workflow's file; its name is another one if the repository already has its own workflow with that name."""
    name = "" if folder == "." else "-" + folder.replace("/", "-")
    first, other, beside = (root / f".github/workflows/{file}" for file in (f"ci{name}.yml", f"ci{name}.yaml", f"matrix{name}.yml"))
    there = next((file for file in (first, other) if file.exists()), None)
    return beside if there and f"/ci/matrix --project {folder}\n" not in there.read_text(errors="replace") else there or first


def has_format(project, root):
    """Returns whether there is already a .swift-format; swift format also looks in the folders above."""
    own = pathlib.Path(os.path.realpath(project))
    return any((folder / ".swift-format").exists() for folder in (own, *own.parents) if folder.is_relative_to(root))
