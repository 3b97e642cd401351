"""No process of a cell outlives it, and the next run works."""

import os
import signal

from support import ProjectCase, last_line

# One child in its group, one in a session of its own whose parent is gone, one that ignores what is polite.
SPAWN = """
sleep 1000 & echo $! >> pids.part
setsid bash -c 'sleep 1000 & echo $! >> pids.part'
bash -c 'trap "" TERM INT HUP; sleep 1000 & echo $! $$ >> pids.part; sleep 1001; sleep 1002' &
until [ "$(wc -w < pids.part)" -eq 4 ]; do sleep 0.01; done
mv pids.part pids
"""


def spawning(then, timeout=30, name="a"):
    return f"[[cell]]\nid = '{name}'\nwhat = 'b'\ntimeout = {timeout}\nrun = '''{SPAWN}{then}'''\n"


class ProcessesCase(ProjectCase):
    def pids(self):
        return [int(pid) for pid in self.wait_for("pids").split()]

    def assert_the_next_run_works(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n")
        code, said = self.matrix("run", "a")
        self.assertEqual((code, last_line(said)), (0, "1 passed, 0 failed, 0 skipped"), said)

    def test_after_a_hang(self):
        self.cells(spawning("sleep 1000", timeout=3))
        code, said = self.matrix("run", "a")
        self.assertEqual((code, last_line(said)), (124, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("not finished within 3 s", said)
        self.assert_ended(*self.pids(), within=0.5)
        self.assert_the_next_run_works()

    def test_after_it_ended_well(self):
        self.cells(spawning("true"))
        code, said = self.matrix("run", "a")
        self.assertEqual(code, 0, said)
        self.assertIn("left processes behind, which were ended: bash, sleep", said)
        self.assert_ended(*self.pids(), within=0.5)

    def interrupt(self, number):
        self.cells(spawning("sleep 1000") + "[[cell]]\nid = 'z'\nwhat = 'b'\nrun = 'touch ran'\n")
        process = self.start("run", "*")
        pids = self.pids()
        code, said = self.interrupted(process, number)
        self.assertEqual((code, last_line(said)), (130, "0 passed, 1 failed, 1 skipped"), said)
        self.assert_ended(*pids, within=0.5)
        self.assertFalse((self.project / "ran").exists(), "a cell was begun after the interrupt")
        self.assert_the_next_run_works()

    def test_after_control_c(self):
        self.interrupt(signal.SIGINT)

    def test_after_sigterm(self):
        self.interrupt(signal.SIGTERM)

    def test_after_who_reads_has_gone(self):
        """As `ci/matrix run | head -1` makes it, or a terminal that is closed."""
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n" + spawning("sleep 1000", name="b"))
        process = self.start("run", "*")
        pids = self.pids()
        process.stdout.close()
        (self.project / "go").touch()
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(30), 130)
        self.assert_ended(*pids, within=0.5)
        self.assertEqual(self.statuses(), {"a": "passed", "b": "interrupted"})

    def test_who_stops_reading_ends_what_runs(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nsteps = [{ name = 'x', run = 'echo > began; until [ -e go ]; do sleep 0.01; done' },"
                   " { name = 'y', run = 'touch ran; sleep 1000' }]\n[[cell]]\nid = 'z'\nwhat = 'b'\nrun = 'touch z.ran'\n")
        process = self.start("run", "*")
        self.wait_for("began")
        process.stdout.close()
        (self.project / "go").touch()
        self.assertEqual(process.wait(30), 130)
        self.assertFalse((self.project / "z.ran").exists())

    def test_a_failure_is_told_by_the_exit_code_when_nobody_reads(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'until [ -e go ]; do sleep 0.01; done; false'\n")
        process = self.start("run", "*")
        self.assertIn("a: until", process.stdout.readline())
        process.stdout.close()
        (self.project / "go").touch()
        self.assertEqual((process.wait(30), self.statuses()), (1, {"a": "failed"}))

    def test_after_control_c_while_packages_are_installed(self):
        self.program("apt-get", "#!/bin/sh\necho installing > began\nexec sleep 1000\n")
        self.program("dpkg-query", "#!/bin/sh\n")
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrequires = ['apt:made-up']\nrun = 'true'\n")
        process = self.start("run", "a", "--install", cwd=self.project)
        self.wait_for("began")
        os.killpg(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=30)
        self.assertEqual((process.returncode, said), (130, "installing made-up\nci/matrix: interrupted\n"))

    def test_after_ci_matrix_itself_is_killed(self):
        self.cells(spawning("sleep 1000"))
        process = self.start("run", "a")
        pids = self.pids()
        process.kill()
        self.assert_ended(*pids, within=10)
        self.assertNotIn("BrokenPipe", process.stdout.read())
        temporary = (self.project / ".ci/cells/a/temporary").read_text()
        self.assertTrue(os.path.isdir(temporary))
        self.assert_the_next_run_works()
        self.assertFalse(os.path.exists(temporary), "what it had left is still there")

    def test_two_runs_of_a_cell_wait_for_each_other(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = '''mkdir busy; echo x > began; until [ -e go ]; do sleep 0.01; done; rmdir busy'''\n")
        first = self.start("run", "a")
        self.wait_for("began")
        second = self.start("run", "a")
        self.assertIn("waits for another ci/matrix", second.stdout.readline())
        (self.project / "go").touch()
        self.assertEqual((first.wait(30), second.wait(30)), (0, 0))

    def test_one_that_is_interrupted_while_it_waits_leaves_the_other_alone(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = '''touch $TMPDIR/mine; echo x > began; until [ -e go ]; do sleep 0.01; done; test -e $TMPDIR/mine'''\n")
        first = self.start("run", "a")
        self.wait_for("began")
        second = self.start("run", "a")
        self.assertIn("waits for another ci/matrix", second.stdout.readline())
        code, said = self.interrupted(second)
        self.assertEqual((code, last_line(said)), (130, "0 passed, 0 failed, 1 skipped"), said)
        (self.project / "go").touch()
        said, _ = first.communicate(timeout=30)
        self.assertEqual(first.returncode, 0, said)
        self.assertTrue((self.project / ".ci/logs/a/touch.log").exists())

    def test_a_command_that_is_not_there_fails(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'no-such-program'\n")
        code, said = self.matrix("run", "a")
        self.assertEqual(code, 1, said)
        self.assertIn("no-such-program: command not found", said)

    def test_a_command_that_kills_itself_is_told(self):
        self.cells(f"[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'kill -{int(signal.SIGKILL)} $$'\n")
        code, said = self.matrix("run", "a")
        self.assertEqual(code, 1, said)
        self.assertIn("signal 9", said)

    def test_a_cell_has_nothing_to_read(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'cat'\n")
        self.assertEqual(self.matrix("run", "a")[0], 0)
        self.assertTrue(os.path.exists(self.project / ".ci/logs/a/cat.log"))
