"""Tests that no process of a cell outlives it, and that the next run works."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import unittest.mock

from support import LIMIT, PACKAGE, SpawningCase, last_line, spawning

# As on a system where nobody adopts orphans and there is no /proc: a process in the command's group whose parent is gone, and one in a
# group of its own below a process that ignores SIGTERM.
ELSEWHERE = """
import sys
sys.platform = "elsewhere"
from matrixlib.supervise import main
main()
"""
GROUPS = """
bash -c 'sleep 1000 & echo $! >> pids.part'
set -m
bash -c 'trap "" TERM; sleep 1000 & echo $! $$ >> pids.part; sleep 1001; sleep 1002' &
until [ "$(wc -w < pids.part)" -eq 3 ]; do sleep 0.01; done
mv pids.part pids
sleep 1000
"""


# Its child has nothing by which it could be found.
NEVER_ANSWERS = """
import os, signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "1000"], env={}, start_new_session=True)
print(os.getpid(), child.pid, file=open("pids", "w"), flush=True)
while True:
    time.sleep(1)
"""


class ProcessesCase(SpawningCase):
    def test_after_a_hang(self):
        self.cells(spawning("sleep 1000", timeout=3))
        code, said = self.matrix("run", "a")
        self.assertEqual((code, last_line(said)), (124, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("not finished within 3 s", said)
        self.assert_ended(*self.pids(), within=0.5)
        self.assert_the_next_run_works()

    def elsewhere(self, seconds, command):
        supervisor = [sys.executable, "-c", ELSEWHERE, str(seconds), "log", "", "bash", "-c", command]
        environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
        said = subprocess.run(supervisor, cwd=self.project, env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=30).stdout
        return json.loads(said)

    def test_after_a_hang_where_orphans_are_not_adopted(self):
        told = self.elsewhere(2, GROUPS)
        self.assertEqual((told["reason"], told["unkillable"]), ("timeout", []))
        self.assert_ended(*self.pids(), within=0.5)

    def test_after_it_ended_well_where_orphans_are_not_adopted(self):
        told = self.elsewhere(20, "bash -c 'sleep 1000 & echo $! > pids'")
        self.assertEqual((told["code"], told["reason"], told["left"], told["unkillable"]), (0, None, ["sleep"], []))
        self.assert_ended(*self.pids(), within=0.5)

    def test_after_it_ended_well(self):
        self.cells(spawning("true"))
        code, said = self.matrix("run", "a")
        self.assertEqual(code, 0, said)
        self.assertIn("left processes behind, which were ended: bash, sleep", said)
        self.assert_ended(*self.pids(), within=0.5)

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

    def test_a_command_that_kills_what_watches_it_has_failed_and_was_not_interrupted(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'kill -KILL $PPID'\n[[cell]]\nid = 'c'\nwhat = 'b'\nrun = 'true'\n")
        code, said = self.matrix("run", "*")
        self.assertEqual((code, self.statuses()), (1, {"a": "failed", "c": "passed"}), said)
        self.assertIn("signal 9", said)

    def test_what_such_a_command_leaves_is_ended(self):
        begun = "until grep -q sleep /proc/$!/comm; do sleep 0.01; done"
        self.cells(f"[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'setsid sleep 1000 & echo $! > pids; {begun}; kill -KILL $PPID; sleep 1001'\n")
        code, said = self.matrix("run", "a")
        self.assertEqual(code, 1, said)
        self.assertRegex(said, "left processes behind, which were ended: .*sleep")
        self.assert_ended(*self.pids(), within=1)

    def test_a_command_that_stops_what_watches_it_is_watched_on(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\ntimeout = 600\nrun = 'kill -STOP $PPID'\n")
        process = self.start("run", "a")
        said, _ = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, last_line(said)), (0, "1 passed, 0 failed, 0 skipped"))

    def test_an_interrupt_ends_a_command_that_has_stopped_what_watches_it(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\ntimeout = 600\nrun = 'kill -STOP $PPID; echo $$ > pids; sleep 1000'\n")
        process = self.start("run", "a")
        pids = self.pids()
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, last_line(said)), (130, "0 passed, 0 failed, 0 skipped, 1 interrupted"))
        self.assert_ended(*pids)

    def late(self, run):
        """Runs a cell whose supervisor doesn't end it in time: everything in the file `pids` is ended all the same."""
        from matrixlib import processes
        self.cells(f"[[cell]]\nid = 'a'\nwhat = 'b'\ntimeout = 5\nrun = '''{run}'''\n")
        with unittest.mock.patch.object(processes, "PATIENCE", 1):
            code, said = self.matrix("run", "a")
        self.assertEqual((code, last_line(said)), (124, "0 passed, 1 failed, 0 skipped"), said)
        self.assertIn("not finished within 5 s", said)
        self.assert_ended(*self.pids())

    def test_the_time_is_up_for_a_command_that_stops_what_watches_it_again_and_again(self):
        self.late("echo $$ $PPID > pids; while kill -STOP $PPID; do :; done")

    def test_a_supervisor_that_never_answers_is_ended_with_what_is_below_it(self):
        from matrixlib import processes
        (self.project / "supervisor").write_text(NEVER_ANSWERS)
        with unittest.mock.patch.object(processes, "SUPERVISOR", [sys.executable, str(self.project / "supervisor")]):
            self.late("true")

    def test_what_hides_from_everything_but_its_cgroup_is_ended(self):
        """Without what watches it, and without the environment by which it would be found."""
        from matrixlib import processes
        with processes.cgroup() as group:
            if not group:
                self.skipTest("can't make a cgroup here")
        begun = "until grep -q sleep /proc/$!/comm; do sleep 0.01; done"
        self.cells(f"[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'env -i setsid sleep 1000 & {begun}; echo $! > pids; kill -KILL $PPID'\n")
        code, said = self.matrix("run", "a")
        self.assertEqual(code, 1, said)
        self.assert_ended(*self.pids())
        self.assertFalse(os.path.exists(group))

    def test_the_kernels_word_on_memory_is_read(self):
        from matrixlib.processes import ended_for_memory
        group = self.project / "groups/a.slice"
        group.mkdir(parents=True)
        (group / "memory.events").write_text("low 0\noom 3\noom_kill 2\n")
        (self.project / "own").write_text("0::/a.slice\n")
        self.assertEqual(ended_for_memory(self.project / "groups", self.project / "own"), 2)
        self.assertEqual(ended_for_memory(self.project / "groups", self.project / "none"), None)

    def test_a_long_log_keeps_its_beginning_its_end_and_what_matters(self):
        from matrixlib import output
        with unittest.mock.patch.multiple(output, HEAD=100, TAIL=50, PIECE=20):
            log = output.Output(self.project / "log")
            for text in ("first\n" + "y\n" * 60, "z" * 40, "\n/x/Y.swift:3: error: \n50 %Test Case 'A.b' failed\n", "y\n" * 60, "last\n"):
                os.write(log.writing, text.encode())
                log.wait(1)
            os.close(log.writing)
            log.close()
        text = (self.project / "log").read_text()
        self.assertTrue(text.startswith("first\ny\n"), text)
        self.assertTrue(text.endswith("y\nlast\n"), text)
        self.assertIn("what matters of what is left out here:\n", text)
        self.assertRegex(text, r"\n/x/Y\.swift:3: error: ?\n50 %Test Case 'A\.b' failed\n")
        self.assertRegex(text, r"\.\.\. \d+ bytes were left out; the end:")
        self.assertLess(len(text), 350)

    def test_a_line_at_which_a_log_is_cut_is_whole(self):
        from matrixlib import output
        lines = [f"Test Case 'A.b{number:02}' passed (0.1 seconds)\n" for number in range(20)]
        for offset in range(len(lines[0])):
            with unittest.mock.patch.multiple(output, HEAD=100 + offset, TAIL=100, PIECE=20):
                log = output.Output(self.project / "log")
                os.write(log.writing, "".join(lines).encode())
                log.wait(1)
                os.close(log.writing)
                log.close()
            text = (self.project / "log").read_text()
            self.assertEqual([line for line in lines if f"\n{line}" not in f"\n{text}"], [], text)
            (self.project / "log").unlink()

    def test_what_was_dropped_of_a_log_is_counted_where_its_middle_is_left_out(self):
        from matrixlib import diagnosis, output
        lines = "y\n" * 600_000 + "/x/Y.swift:3: error: z\n" + "y\n" * 600_000
        with unittest.mock.patch.multiple(output, HEAD=4000, TAIL=4000, PIECE=500), unittest.mock.patch.object(diagnosis, "READ", 3000):
            log = output.Output(self.project / "log")
            writing = threading.Thread(target=lambda: (os.write(log.writing, lines.encode()), os.close(log.writing)))
            writing.start()
            while not log.is_over:
                log.wait(1)
            log.close()
            writing.join()
            left = int(re.search(r"\n… (\d+) bytes are left out here …\n", diagnosis.read(self.project / "log"))[1])
        self.assertAlmostEqual(left, len(lines) - 6000, delta=200)

    def test_the_time_is_up_for_a_command_that_prints_without_an_end_too(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\ntimeout = 2\nrun = 'yes'\n")
        code, said = self.matrix("run", "a")
        self.assertEqual((code, last_line(said)), (124, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("not finished within 2 s; was still running: yes (pid", said)

    def test_a_closed_pipe_and_a_file_that_is_too_long_end_a_command_as_they_do_in_a_shell(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = '''set +e; yes | head -1; echo ${PIPESTATUS[0]} > pipe; "
                   "(ulimit -f 1; head -c 9999 /dev/zero > file); echo $? > long'''\n")
        self.assertEqual(self.matrix("run", "a")[0], 0)
        ended = [int((self.project / name).read_text()) for name in ("pipe", "long")]
        self.assertEqual(ended, [128 + signal.SIGPIPE, 128 + signal.SIGXFSZ])

    def test_a_cell_has_nothing_to_read(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'cat'\n")
        self.assertEqual(self.matrix("run", "a")[0], 0)
        self.assertTrue(os.path.exists(self.project / ".ci/logs/a/cat.log"))
