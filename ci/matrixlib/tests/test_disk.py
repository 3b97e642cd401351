"""Tests disks that are full or read-only, real ones of 64 KB, and outputs that take nothing: one line says where, no file is partial."""

import os
import stat
import subprocess
import unittest

from support import LIMIT, ProjectCase, last_line

# In a namespace of its own, whose mounts are gone when it ends.
APART = ["unshare", "--mount", "--map-root-user", "bash", "-c"]
FULL = 'mount -t tmpfs -o size=64k none disk; head -c 99999 /dev/zero > disk/filler 2> /dev/null;'
CELLS = """
[[cell]]
id = "a"
what = "b"
run = "true"

[[cell]]
id = "long"
what = "b"
run = "head -c 99999 /dev/zero | tr '\\\\0' x"
"""


class DiskCase(ProjectCase):
    @classmethod
    def setUpClass(cls):
        if subprocess.run([*APART, "mount -t tmpfs none /mnt"], stderr=subprocess.DEVNULL).returncode:
            raise unittest.SkipTest("needs to mount a disk in a namespace of its own (unshare --mount --map-root-user)")

    def setUp(self):
        super().setUp()
        self.disk = self.project / "disk"
        self.disk.mkdir()
        self.cells(CELLS)

    def on(self, disk, script, *arguments):
        """Returns the exit code, both outputs, and the files on the disk that aren't empty then; in the script, `"$@"` is ci/matrix."""
        script = f"{disk} {script}; code=$?; find disk -type f -size +0 > listed; exit $code"
        done = subprocess.run(
            [*APART, script, "bash", *self.command(*arguments)], cwd=self.project, env=self.environment(), capture_output=True, text=True,
            timeout=LIMIT)
        self.assertNotIn("Traceback", done.stdout + done.stderr)
        self.assertNotIn("Exception", done.stdout + done.stderr)
        return done.returncode, done.stdout, done.stderr, (self.project / "listed").read_text().split()

    def test_an_output_on_a_full_disk(self):
        for verb in (["run", "a"], ["run", "a", "-v"], ["list"], ["explain", "a"]):
            code, _, said, _ = self.on(FULL, '"$@" > disk/output', *verb)
            self.assertEqual((code, said), (4, f"matrix: no space left in {self.disk}: 0 MB are free\n"), verb)
        self.assertEqual([cell["id"] for cell in self.results()], ["a"], "what is known of it is told where it can be")

    def test_a_report_on_a_full_disk(self):
        code, out, said, left = self.on(FULL, '"$@"', "run", "a", "--report", "disk/report.json")
        self.assertEqual((code, said, left), (4, "", ["disk/filler"]))
        self.assertIn(f"the results could not be written: no space left in {self.disk}: 0 MB are free\n", out)
        self.assertEqual(last_line(out), "1 passed, 0 failed, 0 skipped")
        self.assertEqual(self.statuses(), {"a": "passed"})
        for kind in ("--json", "--junit", "--markdown", "--html"):
            code, _, said, left = self.on(FULL, '"$@"', "report", kind, "disk/report")
            self.assertEqual((code, said, left), (4, f"matrix: no space left in {self.disk}: 0 MB are free\n", ["disk/filler"]))

    def test_a_report_elsewhere_is_written_when_the_disk_of_the_logs_is_full(self):
        (self.project / ".ci").symlink_to("disk")
        code, out, _, left = self.on(FULL, '"$@"', "run", "a", "--report", "report.json")
        self.assertEqual((code, left), (4, ["disk/filler"]), out)
        self.assertIn("failed      a", out)
        self.assertEqual(out.count("no space left in "), 2, out)
        self.assertTrue((self.project / "report.json").read_text().endswith("}\n"))

    def test_logs_that_fill_a_disk(self):
        (self.project / ".ci").symlink_to("disk")
        code, out, _, left = self.on(FULL.partition(";")[0] + ";", '"$@"', "run", "long")
        self.assertEqual(code, 4, out)
        self.assertRegex(out, "failed +long .* no space left in .*/logs/long: 0 MB are free\n")
        self.assertEqual(last_line(out), "0 passed, 1 failed, 0 skipped")

    def test_a_disk_that_is_read_only(self):
        disk = "mount -t tmpfs -o ro none disk;"
        code, out, _, left = self.on(disk, '"$@"', "run", "a", "--report", "disk/report.json")
        self.assertEqual((code, left), (4, []))
        self.assertIn("disk/.report.json", out)
        self.assertIn(": Read-only file system\n", out)
        (self.project / ".ci").rename(self.project / "before")
        (self.project / ".ci").symlink_to("disk")
        code, out, _, left = self.on(disk, '"$@"', "run", "a")
        self.assertEqual((code, left), (4, []), out)
        self.assertIn(": Read-only file system\n", out)


class OutputCase(ProjectCase):
    def setUp(self):
        super().setUp()
        self.cells(CELLS)

    def test_a_device_that_takes_nothing(self):
        for verb in (["run", "a"], ["list"], ["run", "a", "--report", "/dev/full"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run(
                    self.command(*verb), env=self.environment(), stdout=subprocess.DEVNULL if "--report" in verb else full, stderr=subprocess.PIPE,
                    text=True, timeout=LIMIT)
            said = "" if "--report" in verb else "matrix: /dev/full: No space left on device\n"
            self.assertEqual((done.returncode, done.stderr), (4, said), verb)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_a_pipe_that_nobody_reads_is_not_waited_for(self):
        pipe = self.project / "pipe"
        os.mkfifo(pipe)
        code, said = self.matrix("run", "a", "--report", str(pipe))
        self.assertEqual(code, 4, said)
        self.assertIn(f"the results could not be written: {pipe}: nobody reads this pipe\n", said)
        self.assertTrue(pipe.is_fifo())

    def test_a_shells_pipe_gets_a_report(self):
        done = subprocess.run(
            ["bash", "-c", '"$@" --report >(cat > got; mv got report) > said; wait $!', "bash", *self.command("run", "a")],
            cwd=self.project, env=self.environment(), capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((self.project / "report").read_text().startswith("{"))

    def test_an_output_that_is_closed_after_a_line(self):
        for verb in (["list"], ["run", "*"], ["explain", "*"]):
            done = subprocess.run(
                ["bash", "-c", '"$@" | head -1', "bash", *self.command(*verb)], env=self.environment(), capture_output=True, text=True,
                timeout=LIMIT)
            self.assertEqual((done.stdout.count("\n"), done.stderr), (1, ""), verb)
