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
    ignored = project / ".gitignore"
    known = ignored.read_bytes() if ignored.exists() else b""
    if b".ci/" not in known.split():
        ignored.write_bytes(known + (b"" if known[-1:] in (b"", b"\n") else b"\n") + b".ci/\n")
        yield "added .ci/ to .gitignore"
    written = []
    try:
        for name, source in (files | formatted).items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            written.append(project / name)
            written[-1].write_bytes((FIRST / source).read_bytes())
            yield f"wrote {name}"
    except OSError:
        for file in written:  # None rather than half of them, so that it can be begun anew.
            file.unlink(missing_ok=True)
        raise
