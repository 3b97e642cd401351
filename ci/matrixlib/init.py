"""`ci/matrix init`: a first cells.toml for a Swift package, and the hosted workflow that runs it."""

import os
import pathlib
import re

from .problems import Problem, program
from .processes import fault, said

HOME = pathlib.Path(__file__).resolve().parents[2]
FIRST = pathlib.Path(__file__).with_name("first")


def init(project):
    """Writes the files, none where one is there already; the lines to say."""
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
    # As `swift package init` writes its sources; swift format's own default is two spaces.
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
        for file in written:  # None rather than half of them, so that it can be begun anew.
            file.unlink(missing_ok=True)
        raise


def repository(project):
    """Where GitHub looks for workflows, which the package may be a folder of; without a repository that is the package's folder."""
    own, words = pathlib.Path(os.path.realpath(project)), ("git", "rev-parse", "--show-toplevel")
    if top := said(*words, cwd=project):
        return pathlib.Path(os.path.realpath(top.removesuffix("\n")))
    if any((folder / ".git").exists() for folder in (own, *own.parents)):
        raise Problem(f"git can't say which repository {project} is in: {fault(*words, cwd=project)}")
    return own


def workflow(folder, name, commit):
    """The hosted workflow of a package in a folder of its repository; the names of its jobs say which one's they are."""
    name = name if folder == "." else f"{name} {folder}"
    text = (FIRST / "workflow.yml").read_text().replace("REVISION: main", f"REVISION: {commit}").replace("--project .", f"--project {folder}")
    text = text.replace("name: CI", f"name: {name}")
    return (text if folder == "." else text.replace(" .ci/", f" {folder}/.ci/")).encode()


def revision():
    """The commit that this is of, if a runner can have it; a copy without git, or in another repository, is of none."""
    top, commit = (said("git", "rev-parse", what, cwd=HOME) or "" for what in ("--show-toplevel", "HEAD"))
    there = top.strip() == str(HOME) and said("git", "branch", "-r", "--contains", "HEAD", cwd=HOME)
    return commit.strip() if there else "main"


def place(root, folder):
    """Its file; beside a workflow of the repository's own that has the same name."""
    name = "" if folder == "." else "-" + folder.replace("/", "-")
    first, other, beside = (root / f".github/workflows/{file}" for file in (f"ci{name}.yml", f"ci{name}.yaml", f"matrix{name}.yml"))
    there = next((file for file in (first, other) if file.exists()), None)
    return beside if there and f"/ci/matrix --project {folder}\n" not in there.read_text(errors="replace") else there or first


def has_format(project, root):
    """Whether there is a .swift-format already: swift format looks in the folders above, too."""
    own = pathlib.Path(os.path.realpath(project))
    return any((folder / ".swift-format").exists() for folder in (own, *own.parents) if folder.is_relative_to(root))
