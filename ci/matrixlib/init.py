"""`ci/matrix init`: a first cells.toml for a Swift package, and the hosted workflow that runs it."""

import pathlib

from .problems import Problem

FIRST = pathlib.Path(__file__).with_name("first")
WORKFLOW, BESIDE = ".github/workflows/ci.yml", ".github/workflows/matrix.yml"


def init(project):
    """Writes the files, none where one is there already; the lines to say."""
    if not (project / "Package.swift").exists():
        raise Problem(f"{project} has no Package.swift: --project names the folder of a package")
    # A workflow of the package's own stays, and this one goes beside it.
    own = (project / WORKFLOW).exists() and (project / WORKFLOW).read_bytes() != (FIRST / "workflow.yml").read_bytes()
    files = {"ci/cells.toml": "cells.toml", BESIDE if own else WORKFLOW: "workflow.yml"}
    there = [name for name in files if (project / name).exists()]
    if there:
        raise Problem(f"already there: {', '.join(there)}; ci/matrix run runs them, or move them away and begin anew")
    # As `swift package init` writes its sources; swift format's own default is two spaces.
    formatted = {} if (project / ".swift-format").exists() else {".swift-format": "swift-format.json"}
    for name, source in (files | formatted).items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text((FIRST / source).read_text())
        yield f"wrote {name}"
    ignored = project / ".gitignore"
    known = ignored.read_text() if ignored.exists() else ""
    if ".ci/" not in known.split():
        ignored.write_text(known + ("" if known[-1:] in ("", "\n") else "\n") + ".ci/\n")
        yield "added .ci/ to .gitignore"
