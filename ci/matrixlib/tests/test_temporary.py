"""Tests that a cell's temporary files are removed, whatever they are, and nothing of anybody else's with them."""

import os
import pathlib
import subprocess
import sys
import unittest

from support import LIMIT, PACKAGE, ProjectCase

# In a namespace of its own, whose mounts are gone when it ends.
APART = ["unshare", "--mount", "--map-root-user", "bash", "-euc"]
NOBODY = 65534


class MountsCase(ProjectCase):
    @classmethod
    def setUpClass(cls):
        if subprocess.run([*APART, "mount -t tmpfs none /mnt"], stderr=subprocess.DEVNULL).returncode:
            raise unittest.SkipTest("needs to mount a disk in a namespace of its own (unshare --mount --map-root-user)")

    def setUp(self):
        super().setUp()
        self.precious = self.project / "precious"
        self.precious.mkdir()
        (self.precious / "file").write_text("kept")
        self.temporary = self.project / "temporary files"
        self.temporary.mkdir()

    def apart(self, script, *arguments):
        """Returns what a script says in which `"$@"` is ci/matrix; where it mounts something, only the script sees it."""
        return subprocess.run(
            [*APART, script, "bash", *self.command(*arguments)], cwd=self.project, env=self.environment(TMPDIR=str(self.temporary)),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT).stdout

    def test_what_a_test_mounted_stays_and_is_told_until_it_is_unmounted(self):
        self.cells('[[cell]]\nid = "a"\nwhat = "b"\nrun = \'mkdir -p "$TMPDIR/in/m"; [ -e once ] || mount --bind precious "$TMPDIR/in/m"; touch once\'\n')
        said = self.apart('"$@"; "$@"; umount "$TMPDIR"/*/in/m; echo gone; "$@"', "run", "a")
        before, _, after = said.partition("gone\n")
        stays = f"a: {self.temporary}/ci-matrix."
        self.assertEqual([line.startswith(stays) for line in before.splitlines()].count(True), 2, said)
        self.assertRegex(before, r"ci-matrix\.\w+ stays: mounted there: .*/temporary files/ci-matrix\.\w+/in/m\n")
        self.assertNotIn("stays", after)
        self.assertEqual((self.precious / "file").read_text(), "kept")
        self.assertEqual(os.listdir(self.temporary), [])

    def test_what_a_test_mounted_over_its_folder_or_on_a_file_stays(self):
        for mount in ('mount --bind precious "$TMPDIR"', 'touch "$TMPDIR/x"; mount --bind precious/file "$TMPDIR/x"', 'mount -t tmpfs none "$TMPDIR"'):
            self.cells(f"[[cell]]\nid = 'a'\nwhat = 'b'\nrun = '''{mount}'''\n")
            self.assertIn(" stays: mounted there: ", self.apart('"$@"', "run", "a"), mount)
            self.assertEqual((self.precious / "file").read_text(), "kept", mount)

    def test_what_is_printed_to_paste_leaves_it_too(self):
        self.cells('[[cell]]\nid = "a"\nwhat = "b"\nrun = \'mkdir "$TMPDIR/m"; mount --bind precious "$TMPDIR/m"; echo "$TMPDIR" > where\'\n')
        said = self.apart('"$@" > script; bash script', "run", "a", "--dry-run")
        where = pathlib.Path((self.project / "where").read_text().strip())
        self.assertIn(f" on {where}/m ", said)
        self.assertEqual((self.precious / "file").read_text(), "kept")
        (where / "m").rmdir()
        where.rmdir()


class RemovedCase(ProjectCase):
    def removed(self, make, others="", **values):
        """Returns what is said when somebody who isn't root removes what a script makes in a folder, besides what others make there."""
        folder = self.project / "ci-matrix.x"
        folder.mkdir()
        self.project.chmod(0o755)
        subprocess.run(["bash", "-euc", make], cwd=folder, check=True)
        if os.getuid() == 0:
            subprocess.run(["chown", "-Rh", str(NOBODY), self.project], check=True)
        subprocess.run(["bash", "-euc", others], cwd=folder, check=True)
        code = f"import os; from matrixlib.folders import removed; os.getuid() or os.setuid({NOBODY}); print(removed('ci-matrix.x', print))"
        said = subprocess.run(
            [sys.executable, "-c", code], cwd=self.project, env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)} | values, stdout=subprocess.PIPE,
            text=True, timeout=LIMIT).stdout
        self.assertEqual(folder.exists(), bool(others))
        return said

    def test_read_only_folders_are_removed(self):
        said = self.removed("mkdir -p a/b/c d; touch a/b/c/x a/y; ln -s .. a/link; chmod 0 a/b/c; chmod 500 a/b a; chmod 0 .")
        self.assertEqual(said, "True\n")

    def test_what_a_link_leads_to_is_left_as_it_is(self):
        other = self.project / "other"
        other.mkdir(0o500)
        self.removed("ln -s ../other link; mkdir -m 0 closed")
        self.assertEqual(other.stat().st_mode & 0o777, 0o500)

    def test_a_thousand_folders_in_each_other_are_removed(self):
        deep = "import os; [(os.mkdir('a'), os.chdir('a')) for _ in range(1100)]"
        self.assertEqual(self.removed(f'{sys.executable} -c "{deep}"', PATH="/nowhere"), "True\n")

    @unittest.skipIf(os.getuid(), "needs files of another user")
    def test_what_can_not_be_removed_is_told(self):
        said = self.removed("touch x", others="mkdir others; touch others/x")
        self.assertRegex(said, "^ci-matrix.x stays: .*rm: .*ci-matrix.x/others/x.*: Permission denied\nFalse\n$")
