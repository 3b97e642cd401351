"""The files and the cells of this project, in tests that are otherwise those of the matrix: with its made-up projects and its made-up Swift."""

import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ci/matrixlib/tests"))

import support  # noqa: E402


def own_cell(name):
    """Returns a cell of this project."""
    from matrixlib.cells import load
    return next(cell for cell in load(ROOT).cells if cell.id == name)


class ProjectCase(support.ProjectCase):
    def copied(self, *paths):
        """Copies files of the real project into this one, each to the same place."""
        for path in paths:
            (self.project / path).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / path, self.project / path)
