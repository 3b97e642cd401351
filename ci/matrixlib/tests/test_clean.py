"""Tests `clean`, and the bound on what builds take."""

import fcntl

import unittest.mock

from support import LIMIT, ProjectCase
from test_run import cell

BUILDS = "mkdir -p {folder}/build; head -c 3000000 /dev/zero > {folder}/build/x"


class CleanCase(ProjectCase):
    def there(self):
        return sorted(folder.name for folder in (self.project / ".ci/cells").iterdir())

    def test_it_removes_what_the_cells_that_are_meant_built(self):
        self.cells(cell("a", BUILDS) + cell("b", BUILDS))
        self.matrix("run", "a", "b")
        self.assertEqual(self.matrix("clean", "a"), (0, f"removed {self.project}/.ci/cells/a: 2 MB\n"))
        self.assertEqual(self.there(), ["b"])
        self.assertEqual(self.matrix("clean")[0], 0)
        self.assertEqual(self.there(), [])
        self.assertEqual(self.matrix("run", "a")[0], 0)

    def test_it_leaves_what_another_run_uses(self):
        self.cells(cell("a", BUILDS))
        self.matrix("run", "a")
        with (self.project / ".ci/locks/a").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("stays, since another run uses it\n", self.matrix("clean")[1])
        self.assertEqual(self.there(), ["a"])

    def test_a_run_that_begins_meanwhile_waits_until_all_of_it_is_removed(self):
        from matrixlib.folders import removed
        self.cells(cell("a", BUILDS))
        for before in (True, False):
            self.matrix("run", "a")

            def removing(path, say):
                waiting = self.waiting() if before else None
                gone = removed(path, say)
                self.beside = waiting or self.waiting()
                return gone

            with self.subTest(before=before):
                with unittest.mock.patch("matrixlib.folders.removed", removing):
                    self.assertEqual(self.matrix("clean")[0], 0)
                said, _ = self.beside.communicate(timeout=LIMIT)
                self.assertEqual((self.beside.returncode, self.there()), (0, ["a"]), said)

    def waiting(self):
        """Begins a run that waits for this process."""
        process = self.start("run", "a")
        self.assertIn("waits for another ci/matrix", process.stdout.readline())
        return process

    def test_above_the_bound_the_builds_that_were_used_longest_ago_are_removed(self):
        cells = "".join(cell(name, BUILDS) for name in "abc")
        self.cells(f"megabytes = 5\n{cells}")
        for name in "abc":
            self.assertEqual(self.matrix("run", name)[0], 0)
        self.assertEqual(self.there(), ["b", "c"])
        self.cells(cells)
        self.matrix("run", "a")
        self.assertEqual(self.there(), ["a", "b", "c"])

    def test_a_bound_is_in_no_runs_way_that_built_nothing(self):
        self.cells("megabytes = 5\n" + cell("a", requires=["command:no-such-program"]))
        self.assertEqual(self.matrix("run", "a")[0], 5)
        (self.project / ".ci/cells/a/build").mkdir(parents=True)  # as by what --dry-run prints
        self.assertEqual(self.matrix("run", "a")[0], 5)
