"""`init`: writes a first cells.toml for a Swift package, a copy of this program, and the hosted workflow that runs it; or newer ones."""

import contextlib
import json
import os
import pathlib
import re
from collections.abc import Iterator

from .archive import COPY, first, packed, write
from .problems import Problem
from .processes import fault, said

CELLS = re.compile(r"(?m)^(?=\[\[cell\]\])")


def init(project: pathlib.Path) -> Iterator[str]:
    """Writes the files; yields the lines to print. Begun anew, it leaves the cells and brings the rest up to date."""
    packages = ["."] if (project / "Package.swift").exists() else below(project)
    if not packages:
        raise Problem(f"{project} has no Package.swift: --project names the folder of a package")
    root = repository(project)
    folder = os.path.relpath(project, root)
    if not re.fullmatch(r"[\w./][\w./-]*", folder, re.ASCII):
        raise Problem(f"the workflow could not name the folder '{folder}': ASCII letters, digits and ._-/ are what it may have, and no - comes first")
    file = place(root, folder)
    files = {COPY: packed(), os.path.relpath(file, project): workflow(folder, "CI matrix" if file.name.startswith("matrix") else "CI")}
    if not (project / "ci/cells.toml").exists():
        tested = {package: has_tests(project / package) for package in packages}
        # swift format also looks in the folders above.
        above = (folder / ".swift-format" for folder in (project, *project.parents) if folder.is_relative_to(root))
        text = cells(any(map(pathlib.Path.exists, above)), any(tested.values()))
        files["ci/cells.toml"] = (text if packages == ["."] else workspace(text, tested)).encode()
    for other in sorted({*file.parent.glob(f"{file.stem.replace('matrix', 'ci', 1)}.y*ml")} - {file}):
        yield f"left {os.path.relpath(other, project)} alone, which init didn't write"
    ignored = project / ".gitignore"
    known = ignored.read_bytes() if ignored.exists() else b""
    if b".ci/" not in known.split():  # What a run writes.
        ignored.write_bytes(known + (b"" if known[-1:] in (b"", b"\n") else b"\n") + b".ci/\n")
        yield "added .ci/ to .gitignore"
    yield from written(project, files)


def written(project: pathlib.Path, files: dict[str, bytes]) -> Iterator[str]:
    """Writes files; if one can't be written, removes those that are new rather than leaving half of them."""
    with contextlib.ExitStack() as undone:
        for name, content in sorted(files.items()):
            file = project / name
            before = file.read_bytes() if file.exists() else None
            if before is None:
                undone.callback(file.unlink, missing_ok=True)
            if before != content:
                write(file, content)
            yield f"{'wrote' if before is None else 'kept' if before == content else 'updated'} {name}"
        undone.pop_all()


def cells(is_formatted: bool, is_tested: bool) -> str:
    """Returns the first cells, which pass in a package that is well: `swift test` fails without tests, swift format without its file."""
    left_out = ([] if is_formatted else ["format"]) + ([] if is_tested else ["tsan", "asan", "coverage"])
    head, *found = CELLS.split(first("cells.toml"))
    text = head + "".join(cell for cell in found if not any(f'id = "{name}"' in cell for name in left_out))
    return text if is_tested else text.replace('["build", "test"]', '["build"]')


def below(project: pathlib.Path) -> list[str]:
    """Returns the folders of the packages below one that is none itself, without those in other packages."""
    found = list[str]()
    for file in sorted(project.glob("**/Package.swift"), key=lambda file: len(file.parts)):
        folder = file.parent.relative_to(project)
        if not any(part.startswith(".") for part in folder.parts) and not any(folder.is_relative_to(other) for other in found):
            found.append(str(folder))
    return sorted(found)


def workspace(text: str, tested: dict[str, bool]) -> str:
    """Returns first cells for several packages: each cell lists those that it is for as values of an axis, which its commands name."""
    untested = [package for package in tested if not tested[package]]
    listed = json.dumps([package for package in tested if tested[package]] or untested)
    text = re.sub(r'(?<=")swift (build|test) ', r"swift \1 --package-path {package} ", text)
    text = text.replace("[axes]\n", f"[axes]\npackage = {json.dumps([*tested])}\n")
    head, *found = CELLS.split(text)
    for number, cell in enumerate(found):
        if '"build"' in cell:
            own = f"axes = {{ package = {listed}"
            found[number] = cell.replace("axes = {", f"{own},") if "axes = {" in cell else cell.replace("steps = ", f"{own} }}\nsteps = ")
    if 0 < len(untested) < len(tested):
        found.append(f'\n[[cell]]\nid = "build"\nwhat = "Packages without tests"\nlabels = ["smoke"]\naxes = {{ package = {json.dumps(untested)} }}\nsteps = ["build"]\n')
    return head + "".join(found)


def has_tests(project: pathlib.Path) -> bool:
    try:
        package = json.loads(said("swift", "package", "--package-path", str(project), "describe", "--type", "json") or "")
        return any(target["type"] == "test" for target in package["targets"])
    except (ValueError, KeyError):  # Nobody knows.
        return True


def repository(project: pathlib.Path) -> pathlib.Path:
    """Returns the root of the package's repository, where GitHub looks for workflows; without a repository, the package's folder."""
    words = ("git", "rev-parse", "--show-toplevel")
    if top := said(*words, cwd=project):
        return pathlib.Path(os.path.realpath(top.removesuffix("\n")))
    if any((folder / ".git").exists() for folder in (project, *project.parents)):
        raise Problem(f"git can't say which repository {project} is in: {fault(*words, cwd=project)}")
    return project


def workflow(folder: str, name: str) -> bytes:
    """Returns the hosted workflow of a package in a folder of its repository; the names of its jobs say which package they are for."""
    name = name if folder == "." else f"{name} {folder}"
    text = first("workflow.yml").replace("name: CI", f"name: {name}")
    return (text if folder == "." else re.sub(r"(?<=[ '])(ci/matrix|\.ci/|\*\*/Package)", rf"{folder}/\1", text)).encode()


def place(root: pathlib.Path, folder: str) -> pathlib.Path:
    """Returns the workflow's file; its name is another one if the repository already has its own workflow with that name."""
    name = "" if folder == "." else "-" + folder.replace("/", "-")
    first, other, beside = (root / f".github/workflows/{file}" for file in (f"ci{name}.yml", f"ci{name}.yaml", f"matrix{name}.yml"))
    for file in (other if other.exists() and not first.exists() else first, beside):
        text = file.read_text(errors="replace") if file.exists() else None
        if text is None or "`init` writes this file" in text and f" {os.path.normpath(os.path.join(folder, COPY))}\n" in text:
            return file
    raise Problem(f"already there: {os.path.relpath(beside, root / folder)}; move it away and begin anew")
