"""Tests `clean`, and the bound on what builds take."""

import fcntl
import os
import subprocess

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

    def test_a_build_whose_lock_can_not_be_opened_stays_and_the_others_are_removed(self):
        """Its lock is a folder, because root can open any file."""
        cells = "".join(cell(name, BUILDS) for name in "abc")
        self.cells(cells)
        self.matrix("run", "*")
        (self.project / ".ci/locks/a").unlink()
        (self.project / ".ci/locks/a").mkdir()
        os.utime(self.project / ".ci/locks/a", (1, 1))
        stays = f"{self.project}/.ci/cells/a stays: {self.project}/.ci/locks/a: Is a directory\n"
        self.cells(f"megabytes = 3\n{cells}")
        code, said = self.matrix("run", "c")
        self.assertEqual((code, self.there()), (0, ["a", "c"]), said)
        self.assertTrue(said.endswith(f"{stays}removed {self.project}/.ci/cells/b: 2 MB\n"), said)
        self.assertEqual(self.matrix("clean"), (0, f"{stays}removed {self.project}/.ci/cells/c: 2 MB\n"))

    def test_a_file_that_another_run_removes_while_it_is_looked_at_counts_for_nothing(self):
        from matrixlib.folders import megabytes
        folder, look = self.project / "folder", os.lstat
        folder.mkdir()
        for name in "ab":
            (folder / name).touch()

        def last_look(file):
            status = look(file)
            for name in os.listdir(folder):
                (folder / name).unlink()
            return status

        with unittest.mock.patch("os.lstat", last_look):
            self.assertEqual(megabytes(folder), 0)
        self.assertEqual(os.listdir(folder), [])

    def test_a_run_ends_as_its_cells_did_though_nobody_hears_what_was_removed(self):
        reading, writing = os.pipe()
        os.close(reading)
        self.addCleanup(os.close, writing)
        self.cells("megabytes = 1\n" + cell("a", f"{BUILDS}; false"))
        done = subprocess.run(self.command("run", "a"), stdout=subprocess.DEVNULL, stderr=writing, env=self.environment(), timeout=LIMIT)
        self.assertEqual((done.returncode, self.there()), (1, []))

    def test_a_bound_is_in_no_runs_way_that_built_nothing(self):
        self.cells("megabytes = 5\n" + cell("a", requires=["command:no-such-program"]))
        self.assertEqual(self.matrix("run", "a")[0], 5)
        (self.project / ".ci/cells/a/build").mkdir(parents=True)  # as by what --dry-run prints
        self.assertEqual(self.matrix("run", "a")[0], 5)
