"""Tests small programs beside matrix: those that install packages, end commands, or run tests."""

import os
import signal
import subprocess

from own import ROOT, ProjectCase
from support import LIMIT, interruptible

# Answers `-W -f FORMAT PACKAGE` as the real one does, for each architecture, from lines with a name, its wanted and its actual state.
DPKG_QUERY = r"""#!/bin/bash
found=1
while read -r name wanted is; do
    [ "$name" = "$4" ] || continue
    text=${3//'${Status}'/$wanted ok $is}
    printf "${text//'${db:Status-Status}'/$is}"
    found=0
done < states
exit $found
"""


class ToolsCase(ProjectCase):
    def said(self, *command):
        done = subprocess.run(
            command, cwd=self.project, env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=LIMIT)
        return done.returncode, done.stdout

    def test_ci_setup_installs_what_is_not_there(self):
        self.copied("ci/setup")
        self.packages('echo "$*" >> installed')
        self.program("dpkg-query", DPKG_QUERY)
        (self.project / "ci/tools").mkdir()
        for states, missing in (
                ({"plain": ["install installed"], "held": ["hold installed"], "both": ["install installed"] * 2}, []),
                ({"other": ["deinstall config-files", "install installed"]}, []),
                ({"plain": ["install installed"], "gone": ["deinstall config-files"], "half": ["install half-installed"], "never": []},
                 ["gone", "half", "never"]),
                ({"none": ["purge not-installed"]}, ["none"])):
            with self.subTest(states):
                (self.project / "ci/tools/packages").write_text("".join(f"{name}\n" for name in states))
                (self.project / "states").write_text("".join(f"{name} {state}\n" for name, found in states.items() for state in found))
                (self.project / "installed").unlink(missing_ok=True)
                (self.project / "installed").touch()
                code, said = self.said("ci/setup")
                self.assertEqual((code, said), (0, f"ci/setup: installing {' '.join(missing)}\n" if missing else ""))
                installed = f"update -qq\ninstall -y -qq {' '.join(missing)}\n" if missing else ""
                self.assertEqual((self.project / "installed").read_text(), installed)

    def test_each_says_what_it_does_and_does_nothing_else(self):
        for folder in ("ci", "ci/tools", "ci/measure"):
            for file in sorted((ROOT / folder).iterdir()):
                if file.is_file() and os.access(file, os.X_OK):
                    with self.subTest(file.name):
                        code, said = self.said(file, "--help")
                        self.assertEqual(code, 0, said)
                        self.assertNotIn("Traceback", said)
                        self.assertGreater(len(said), 40)

    def test_what_runs_together(self):
        self.copied("ci/tools/together")
        code, said = self.said("ci/tools/together", "echo one", "sh -c 'echo two; exit 3'", "no-such-command")
        self.assertEqual(code, 1)
        for words in (r"== echo one: \d+ s\none\n", r"\d+ s\ntwo\n", "no-such-command: command not found"):
            self.assertRegex(said, words)
        self.assertEqual({line for line in said.splitlines() if "failed" in line}, {
            "== failed with status 3: sh -c 'echo two; exit 3'", "== failed with status 127: no-such-command"})
        self.assertEqual(self.said("ci/tools/together", "true", "echo two")[0], 0)
        self.assertEqual(self.said("ci/tools/together", "echo once", "true", "echo once")[1].count("\nonce\n"), 1)
        # Two that wait for each other end only if they run at the same time.
        os.mkfifo(self.project / "pipe")
        if os.cpu_count() > 1:
            self.assertEqual(self.said("ci/tools/together", "sh -c 'echo > pipe'", "cat pipe")[0], 0)

    def test_within_ends_what_it_runs_when_its_terminal_is_closed(self):
        for number in (signal.SIGHUP, signal.SIGTERM):
            process = subprocess.Popen(
                [ROOT / "ci/tools/within", "60", "bash", "-c", "sleep 1000 & echo $! > pid; wait"], cwd=self.project, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=interruptible)
            self.addCleanup(self.end, process)
            pid = int(self.wait_for("pid"))
            process.send_signal(number)
            self.assertEqual(process.wait(30), 130)
            self.assert_ended(pid)
            (self.project / "pid").unlink()

    def test_tests_that_end_well_without_having_run_have_failed(self):
        self.copied("ci/tools/tests", "ci/tools/within", "ci/matrixlib/testlog.py", "ci/matrixlib/results.py", "ci/matrixlib/problems.py")
        (self.project / "ci/tools/width").write_text("#!/bin/sh\n")
        (self.project / "ci/tools/width").chmod(0o755)
        for behaviors, code, shown in (
                ("one=pass two=pass", 0, None), ("one=pass two=fail", 1, "1 is not 2"), ("one=pass two=exit", 1, "== had not ended: Made.Up/two()"),
                ("one=absent", 1, "== no test was run"), ("one=pass two=record-and-exit", 3, "== had not ended: Made.Up/two()"),
                ("", 1, "== no test was run"), ("xctest=cut one=pass", 1, "== XCTest did not run to its end, so tests may be missing"),
                ("xctest=pass x=early", 1, "== Swift Testing reported nothing: --disable-swift-testing leaves it out")):
            with self.subTest(behaviors):
                done = subprocess.run(
                    ["ci/tools/tests"], cwd=self.project, env=self.environment(FAKE_TESTS=behaviors), stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
                self.assertEqual(done.returncode, code, done.stdout)
                self.assertEqual(done.stdout.splitlines()[-1:], [shown] if shown else [], done.stdout)
