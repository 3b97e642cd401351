"""Where this package is: a folder, or the one file matrix.pyz, which any Python runs; and how that file is made."""

import io
import os
import pathlib
import pkgutil
import shlex
import sys
import zipfile

OUTER = pathlib.Path(__file__).resolve().parents[1]
# What people call: the archive, or the program beside the folder. Without either, pip has installed one.
PROGRAM = OUTER if OUTER.is_file() else OUTER / "matrix"
INSTALLED = "swift-cells"
COPY = "ci/matrix.pyz"
# The project that this program is a part of.
HOME = PROGRAM.parents[1] if PROGRAM.is_file() and PROGRAM.parent.name == "ci" else None


def first(name: str) -> str:
    return (pkgutil.get_data(__package__, f"first/{name}") or b"").decode()


def program(project: str | os.PathLike[str]) -> str:
    """Returns the command that runs a project's cells, which can be pasted in any folder if the project isn't this program's own."""
    project = pathlib.Path(os.path.realpath(project))
    if project == HOME:
        return f"ci/{PROGRAM.name}"
    if (project / COPY).is_file():
        return shlex.quote(str(project / COPY))
    return shlex.join([str(PROGRAM) if PROGRAM.is_file() else INSTALLED, "--project", str(project)])


def packed() -> bytes:
    """Returns the content of the archive: the same bytes for the same sources."""
    if OUTER.is_file():
        return OUTER.read_bytes()
    folder, buffer = pathlib.Path(__file__).parent, io.BytesIO(b"#!/usr/bin/env python3\n")
    files = {"__main__.py": f"import sys\nfrom {__package__}.__main__ import main\nsys.exit(main())\n".encode()}
    for file in sorted([*folder.glob("*.py"), *folder.glob("first/*")]):
        files[f"{__package__}/{file.relative_to(folder)}"] = file.read_bytes()
    with zipfile.ZipFile(buffer, "a") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


def write(file: pathlib.Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    if file.suffix == ".pyz":
        file.chmod(0o755)


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), packed())
