"""Tests of running cells: results, exit codes, requirements, order."""

import concurrent.futures
import errno
import json
import os
import subprocess
import unittest.mock

from support import MATRIX, ProjectCase, last_line


def cell(name, run="true", **values):
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    return f"[[cell]]\nid = {json.dumps(name)}\nwhat = \"made up\"\nrun = {json.dumps(run)}\n{lines}"


class RunCase(ProjectCase):
    def test_all_pass(self):
        self.cells(cell("a") + cell("b"))
        code, said = self.matrix("run", "*")
        self.assertEqual((code, last_line(said)), (0, "2 passed, 0 failed, 0 skipped"))
        self.assertNotIn("\x1b", said)

    def test_a_failure_shows_its_output_and_where_it_lies(self):
        self.cells(cell("a", "echo the reason; false | cat") + cell("b"))
        code, said = self.matrix("run", "*")
        self.assertEqual((code, last_line(said)), (1, "1 passed, 1 failed, 0 skipped"))
        for words in ("echo: exit 1", "| the reason", f"log: {self.project}/.ci/logs/a/echo.log", f"again: {MATRIX} --project {self.project} run a --step echo\n"):
            self.assertIn(words, said)

    def test_exit_codes_by_the_kind_of_step(self):
        for kind, expected in (("check", 1), ("test", 1), ("build", 3), ("setup", 4)):
            run = "exit 9 # {report}" if kind == "test" else "exit 9"
            self.cells(f'[[cell]]\nid = "a"\nwhat = "b"\nsteps = [{{ run = "{run}", kind = "{kind}" }}, {{ run = "touch ran" }}]\n')
            code, said = self.matrix("run", "a")
            self.assertEqual(code, expected, said)
            self.assertFalse((self.project / "ran").exists(), "a step after one that failed was run")

    def test_the_end_names_what_failed_and_how_to_see_just_that_again(self):
        self.cells(cell("a", "false") + cell("b") + """[[cell]]
id = "c"
what = "d"
retries = 0
steps = [{ name = "test", kind = "test", run = "swift test {report} {tests}" }]
""")
        _, said = self.matrix("run", "*", FAKE_TESTS="one=pass two=fail")
        program = f"{MATRIX} --project {self.project}"
        self.assertIn(f"""failed: a: false: exit 1
    again: {program} run a --step false
failed: c: test: failed: Made.Up/two()
    again: {program} run c --step test -- --filter '^Made\\.Up/two\\(\\)(/|$)'
1 passed, 2 failed, 0 skipped
""", said)
        code, said = self.matrix("run", "c", "--", "--filter", r"^Made\.Up/one\(\)", FAKE_TESTS="one=pass two=fail")
        self.assertEqual((code, last_line(said)), (0, "1 passed, 0 failed, 0 skipped"), said)
        self.assertIn("1 test\n", said)

    def test_what_comes_after_two_hyphens_goes_to_the_last_step_that_has_no_tests(self):
        self.cells(cell("a", "echo"))
        self.assertEqual(self.matrix("run", "a", "--", "one two", "-x")[0], 0)
        self.assertEqual((self.project / ".ci/logs/a/echo.log").read_text().splitlines()[1], "one two -x")

    def test_those_that_failed_last_are_run_again(self):
        self.cells(cell("a", "test -e there") + cell("b"))
        self.matrix("run", "*")
        (self.project / "there").touch()
        code, said = self.matrix("run", "--last-failed")
        self.assertEqual((code, last_line(said)), (0, "1 passed, 0 failed, 0 skipped"), said)
        self.assertEqual(self.matrix("run", "--last-failed")[0], 5)

    def test_a_part_that_passed_says_nothing_of_the_whole(self):
        self.cells(cell("a", "test -e there"))
        for arguments, code in ((("a",), 1), (("a", "--", "-o", "-e", "."), 0), (("--last-failed",), 1)):
            self.assertEqual(self.matrix("run", *arguments)[0], code, arguments)
        self.assertNotIn("seconds", (self.project / ".ci/results/history.json").read_text())

    def test_a_time_out_that_never_comes_is_refused(self):
        self.cells(cell("a"))
        for factor in ("inf", "nan"):
            with self.assertRaises(SystemExit) as ended:
                self.matrix("run", "a", "--timeout-factor", factor)
            self.assertEqual(ended.exception.code, 2)

    def test_one_step_alone_with_another_time_out_and_retries(self):
        self.cells("""[[cell]]
id = "a"
what = "b"
steps = [{ name = "one", run = "touch ran" }, { name = "two", run = "sleep 100", timeout = 60 }]
""")
        code, said = self.matrix("run", "a", "--step", "two", "--timeout-factor", "0.01", "--retries", "0")
        self.assertEqual(code, 124, said)
        self.assertIn("not finished within 1 s", said)
        self.assertFalse((self.project / "ran").exists())
        code, said = self.matrix("run", "a", "--step", "tow")
        self.assertEqual((code, said), (2, "matrix: there is no step 'tow': did you mean two?; known: one, two\n"))

    def test_what_has_not_changed_since_it_passed_is_left_out_when_asked(self):
        self.cells(cell("a", "echo x >> ran", inputs=["*.swift"]) + cell("b", "test -e there"))
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        (self.project / ".gitignore").write_text(".ci/\nran\nthere\n")
        (self.project / "A.swift").write_text("1")

        def ran(*arguments, **values):
            code, said = self.matrix("run", "*", *arguments, **values)
            return code, last_line(said)

        self.assertEqual(ran("--changed"), (1, "1 passed, 1 failed, 0 skipped"))
        (self.project / "there").touch()
        self.assertEqual(ran("--changed"), (0, "1 passed, 0 failed, 0 skipped, 1 unchanged"))
        self.assertEqual(ran("--changed"), (0, "0 passed, 0 failed, 0 skipped, 2 unchanged"))
        self.assertEqual(ran("--changed", CI="true"), (0, "2 passed, 0 failed, 0 skipped"))
        self.assertEqual(ran("--changed=ci", CI="true"), (0, "0 passed, 0 failed, 0 skipped, 2 unchanged"))
        self.assertEqual(ran("--changed", "--timeout-factor", "3", "--retries", "5"), (0, "0 passed, 0 failed, 0 skipped, 2 unchanged"))
        (self.project / "B.txt").write_text("2")
        self.assertEqual(ran("--changed"), (0, "1 passed, 0 failed, 0 skipped, 1 unchanged"), "one names its files")
        (self.project / "A.swift").write_text("2")
        self.assertEqual(ran("--changed"), (0, "2 passed, 0 failed, 0 skipped"))
        self.cells(cell("a", "echo y >> ran", inputs=["*.swift"]))
        self.assertEqual(ran("--changed"), (0, "1 passed, 0 failed, 0 skipped"), "it is another cell")
        (self.project / "ran").unlink()
        self.assertEqual(ran(), (0, "1 passed, 0 failed, 0 skipped"), "not asked")

    def test_a_cell_that_is_left_out_leaves_the_label_that_runs_by_itself(self):
        self.cells(cell("a", labels=["smoke"]) + cell("b", labels=["smoke"]) + cell("c", labels=["nightly"]))
        self.matrix("run", "!a")
        self.assertEqual(self.statuses(), {"b": "passed"})

    def test_the_name_of_a_cell_may_stand_behind_changed(self):
        self.cells(cell("a"))
        self.assertEqual(self.matrix("run", "--changed", "a")[0], 0)
        self.assertEqual(self.matrix("run", "a", "--changed", "ci")[0], 0)

    def test_where_nobody_knows_what_has_changed_everything_runs_and_it_says_so(self):
        self.cells(cell("a", "true"))
        for _ in range(2):
            code, said = self.matrix("run", "a", "--changed", GIT_CEILING_DIRECTORIES=str(self.project.parent))
            self.assertEqual((code, last_line(said)), (0, "1 passed, 0 failed, 0 skipped"))
            self.assertIn("this fails, which says what their files are: git -C", said)

    def test_output_is_shown_as_it_comes(self):
        self.cells(cell("a", "echo one; echo two; printf three") + cell("b"))
        _, said = self.matrix("run", "a", "-v")
        self.assertIn("a | one\na | two\na | three\n", said)
        self.assertNotIn("a | one", self.matrix("run", "a")[1])

    def test_a_history_that_somebody_edited_does_no_harm(self):
        self.cells(cell("a"))
        self.matrix("run", "a")
        file = self.project / ".ci/results/history.json"
        for text in ('{"a": {"seconds": "x", "time": [], "status": 1}}', '{"a": 1}', "[]", '{"a": {"x": 1}}'):
            file.write_text(text)
            self.assertEqual(self.matrix("list")[0], 0, text)
            self.assertEqual(self.matrix("run", "a")[0], 0, text)

    def test_a_report_that_can_not_be_written_is_told_in_a_line(self):
        self.cells(cell("a"))
        code, said = self.matrix("run", "a", "--report", "/dev/full")
        self.assertEqual(code, 4, said)
        self.assertIn("the results could not be written: ", said)
        self.assertNotIn("Traceback", said)

    def test_a_full_disk_is_told_with_where_and_how_much(self):
        from matrixlib.problems import in_words
        error = OSError(errno.ENOSPC, "No space left on device", str(self.project / "x"))
        self.assertRegex(in_words(error), rf"^no space left in {self.project}: \d+ MB are free$")

    def test_what_could_not_be_written_leaves_no_part(self):
        from matrixlib.results import write
        with unittest.mock.patch("pathlib.Path.write_text", side_effect=OSError(errno.ENOSPC, "full", "x")):
            with self.assertRaises(OSError):
                write(self.project / "folder/x.json", {})
        (self.project / "folder/x.json").mkdir(parents=True)
        with self.assertRaises(OSError):
            write(self.project / "folder/x.json", {})
        self.assertEqual([file.name for file in (self.project / "folder").iterdir()], ["x.json"])

    def test_a_reader_that_ended_is_told(self):
        self.cells(cell("a", "yes | head -1"))
        self.assertIn("yes: exit 141, SIGPIPE: what it was piped into ended before it, as head does", self.matrix("run", "a")[1])

    def test_fail_fast(self):
        self.cells(cell("a", "false") + cell("b"))
        code, said = self.matrix("run", "*", "--fail-fast")
        self.assertEqual((code, last_line(said)), (1, "0 passed, 1 failed, 1 skipped"))
        self.assertIn("not run, because a failed", said)

    def test_a_missing_requirement_skips_and_says_why(self):
        self.cells(cell("a", "touch ran", requires=["command:no-such-program"]) + cell("b"))
        code, said = self.matrix("run", "*")
        self.assertEqual((code, last_line(said)), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertIn("needs the command no-such-program", said)
        self.assertFalse((self.project / "ran").exists())

    def test_a_missing_requirement_fails_where_ci_is_set(self):
        self.cells(cell("a", requires=["command:no-such-program"]) + cell("b"))
        code, said = self.matrix("run", "*", CI="true")
        self.assertEqual((code, last_line(said)), (4, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("missing requirement: needs the command no-such-program", said)
        code, _ = self.matrix("run", "*", CI="false")
        self.assertEqual(code, 0)

    def test_an_optional_cell_is_skipped_there_too(self):
        self.cells(cell("a", requires=["command:no-such-program"], optional=True) + cell("b"))
        code, said = self.matrix("run", "*", CI="true")
        self.assertEqual((code, last_line(said)), (0, "1 passed, 0 failed, 1 skipped"))

    def test_nothing_run_is_not_success(self):
        self.cells(cell("a", requires=["command:no-such-program"]))
        code, said = self.matrix("run", "a")
        self.assertEqual((code, last_line(said)), (5, "0 passed, 0 failed, 1 skipped"))
        self.assertEqual(self.matrix("run", "-l", "nightly")[0], 5)

    def test_a_job_of_optional_cells_that_were_skipped_is_no_failed_job(self):
        self.cells(cell("a", requires=["command:no-such-program"], optional=True))
        code, said = self.matrix("run", "a", CI="1")
        self.assertEqual((code, last_line(said)), (0, "0 passed, 0 failed, 1 skipped"))
        self.assertIn("needs the command no-such-program", said)
        self.assertEqual(self.matrix("run", "-l", "nightly", CI="1")[0], 5)

    def test_cells_that_share_a_build_folder_build_once(self):
        steps = 'steps = [{ run = "echo x >> built", name = "build", kind = "build" }, { run = "true", name = "check" }]\n'
        self.cells(f'[[cell]]\nid = "a"\nwhat = "b"\n{steps}[[cell]]\nid = "c"\nwhat = "d"\nbuild = "a"\n{steps}')
        code, said = self.matrix("run", "*", "-j", "2")
        self.assertEqual((code, (self.project / "built").read_text()), (0, "x\n"), said)

    def test_cells_run_beside_each_other_and_exclusive_ones_alone(self):
        # The cells a and b wait for each other; x must run after both have ended.
        meet = "touch {0}; for i in $(seq 300); do [ -e {1} ] && break; sleep 0.02; done; [ -e {1} ]; sleep 0.1; touch {0}.over"
        alone = "[ -e a.over ] && [ -e b.over ]"
        self.cells(cell("x", alone, exclusive=True) + cell("a", meet.format("a", "b")) + cell("b", meet.format("b", "a")))
        code, said = self.matrix("run", "*", "-j", "2")
        self.assertEqual((code, last_line(said)), (0, "3 passed, 0 failed, 0 skipped"), said)

    def test_each_cell_has_a_folder_for_what_it_builds_and_one_that_is_gone_after_it(self):
        self.cells(cell("a", 'test -d "$TMPDIR"; echo "$TMPDIR" > where; touch "$TMPDIR/x"; test "$SWIFTPM_BUILD_DIR" = "$PWD/.ci/cells/a/build"'))
        code, said = self.matrix("run", "a")
        self.assertEqual(code, 0, said)
        self.assertFalse(os.path.exists((self.project / "where").read_text().strip()))

    def test_metrics_are_in_the_report(self):
        self.cells(cell("a", 'echo coverage=91.5 >> "$CI_METRICS"'))
        self.matrix("run", "a", "--report", str(self.project / "out.json"))
        (found,) = json.loads((self.project / "out.json").read_text())["cells"]
        self.assertEqual(found["metrics"], {"coverage": 91.5})

    def test_metrics_that_are_none_are_left_out_and_named(self):
        self.cells(cell("a", "printf 'one=1\\n\\377=2\\nx=y\\nz\\nn=nan\\ni=inf\\n' > \"$CI_METRICS\""))
        code, said = self.matrix("run", "a")
        self.assertEqual((code, self.results()[0]["metrics"]), (0, {"one": 1, "\ufffd": 2}), said)
        self.assertIn("a: left out of its metrics, for not being NAME=NUMBER: x=y, z, n=nan, i=inf\n", said)

    def test_what_is_printed_does_the_same_when_pasted(self):
        text = ('[[cell]]\nid = "a"\nwhat = "b"\nflags = ["--x", "it\'s $HOME"]\nenv = { ONE = "1 $ \'" }\nsteps = [{ name = "s", env = { TWO = "2" }, '
                'run = \'\'\'printf "%s\\n" {flags} "$ONE" "$TWO" "$SWIFTPM_BUILD_DIR" "$CI_CELL" "$PWD" >> out; cat\'\'\' }, { name = "t", run = "exit 7" }]\n')
        self.cells(text)
        code, _ = self.matrix("run", "a")
        ran = (self.project / "out").read_text()
        (self.project / "out").unlink()
        _, printed = self.matrix("run", "--dry-run", "a")
        self.assertFalse((self.project / "out").exists())
        done = subprocess.run(["bash"], input=f"cd /\n{printed}", text=True, cwd="/", timeout=30)
        self.assertEqual((done.returncode, (self.project / "out").read_text()), (7, ran))
        self.assertEqual(code, 1)

    def test_of_a_long_log_the_beginning_and_the_end_are_read(self):
        from matrixlib import diagnosis
        file = self.project / "log"
        with file.open("w") as log:
            log.write("first\n" + "x" * 99 + "\n")
            log.truncate(3 * diagnosis.READ)
            log.seek(0, os.SEEK_END)
            log.write("\nlast \u2718\n")
        read = diagnosis.read(file)
        self.assertLessEqual(len(read), 2 * diagnosis.READ + 100)
        self.assertTrue(read.startswith("first\nxx") and read.endswith("\nlast \u2718\n"))
        self.assertIn("bytes are left out here", read)
        self.assertEqual(diagnosis.read(self.project / "none"), f"{self.project}/none: No such file or directory")

    def test_long_lines_are_cut_and_what_would_steer_a_terminal_is_not_shown(self):
        self.cells(cell("a", "printf '\\033]0;title\\007\\033[2Jone\\b\\ttwo\\n'; head -c 5000 /dev/zero | tr '\\0' x; false"))
        _, said = self.matrix("run", "a")
        self.assertIn("    | ]0;titleone\ttwo\n", said)
        self.assertIn("x…\n", said)
        self.assertLess(max(map(len, said.splitlines())), 600)

    def test_results_that_cannot_be_written_hide_no_result(self):
        self.cells(cell("a") + cell("b", "false"))
        for name, expected in (("a", (4, "1 passed, 0 failed, 0 skipped")), ("b", (1, "0 passed, 1 failed, 0 skipped"))):
            code, said = self.matrix("run", name, "--report", "/dev/full")
            self.assertEqual((code, last_line(said)), expected, said)
            self.assertIn("the results could not be written: ", said)

    def test_a_project_that_cannot_be_written_to(self):
        """A file is in the place of the folder, because nothing is read-only for root."""
        self.cells(cell("a"))
        (self.project / ".ci").touch()
        code, said = self.matrix("run", "a")
        self.assertEqual((code, last_line(said)), (4, "0 passed, 1 failed, 0 skipped"), said)
        self.assertIn("/.ci", said)
        self.assertEqual(self.matrix("list")[0], 0)

    def test_a_terminal_that_knows_few_letters(self):
        self.cells(cell("a", "echo '\u2718 no'; false"))
        done = subprocess.run(self.command("run", "a"), capture_output=True, env=self.environment(PYTHONIOENCODING="ascii"))
        self.assertEqual((done.returncode, done.stderr), (1, b""))
        self.assertIn(b"| ? no", done.stdout)

    def test_an_empty_selection_keeps_the_last_results(self):
        self.cells(cell("a"))
        self.matrix("run", "a")
        code, said = self.matrix("run", "a", "!a")
        self.assertEqual((code, said), (5, "nothing is selected\n0 passed, 0 failed, 0 skipped\n"))
        self.assertEqual(self.statuses(), {"a": "passed"})

    def test_the_report_of_nothing_is_no_earlier_runs(self):
        self.cells(cell("a"))
        file = self.project / "report.json"
        for arguments, count in ((["a"], 1), (["a", "!a"], 0)):
            self.matrix("run", *arguments, "--report", str(file))
            self.assertEqual(len(json.loads(file.read_text())["cells"]), count)

    def test_two_runs_at_once_both_go_into_the_history(self):
        from matrixlib.history import History
        from matrixlib.results import CellResult
        from matrixlib.shell import Places
        one, other = History(Places(self.project)), History(Places(self.project))
        one.add([CellResult("a", "passed", 3)])
        other.add([CellResult("b", "failed")])
        self.assertEqual(sorted(History(Places(self.project)).cells), ["a", "b"])

    def test_two_runs_that_end_together_lose_nothing(self):
        from matrixlib.history import History
        from matrixlib.results import CellResult
        from matrixlib.shell import Places

        def end(name):
            for number in range(50):
                History(Places(self.project)).add([CellResult(f"{name}{number}", "passed", 3)])

        with concurrent.futures.ThreadPoolExecutor() as pool:
            self.assertEqual([*pool.map(end, "ab")], [None, None])
        self.assertEqual(len(History(Places(self.project)).cells), 100)

    def test_a_history_that_is_none_is_forgotten(self):
        self.cells(cell("a"))
        results = self.project / ".ci/results"
        results.mkdir(parents=True)
        (self.project / ".ci/flakes.jsonl").write_bytes(b'3\n{}\n\xff\n{"cell": "a", "test": "t"}\n')
        for text in ("[]", '{"a": 3}', '"x"', "{"):
            (results / "history.json").write_text(text)
            self.assertEqual(self.matrix("list")[0], 0, text)
            self.assertIn("1 times: t", self.matrix("explain", "a")[1])
            self.assertEqual(self.matrix("run", "a")[0], 0, text)

    def printed_and_run(self, cells):
        """Returns what each way, running the cells and pasting what is printed, leaves in the file `out`."""
        self.cells(cells)
        out, found = self.project / "out", []
        for printed in (False, True):
            out.unlink(missing_ok=True)
            _, said = self.matrix("run", "a", *(["--dry-run"] if printed else []))
            if printed:
                subprocess.run(["bash"], input=said, text=True, cwd="/", timeout=30)
            found.append(out.read_text())
        return found

    def test_a_step_leaves_the_shell_of_the_next_alone_when_pasted_too(self):
        ran, pasted = self.printed_and_run("""[[cell]]
id = "a"
what = "It's made up"
steps = [
    { name = "one", run = "X=1; cd /; set +e; shopt -s nullglob" },
    { name = "two", run = 'echo "$PWD ${X:-unset} no-such-file*" no-such-file* >> out; exit 0' },
    { name = "three", run = """+"""'''
cat <<EOF >> out
{ braces } $CI_CELL !!
EOF
for x in {1..2}; do echo "$x" >> out; done  # a comment''' },
    { name = "four", env = { Y = "2" }, run = "echo $Y >> out; false; echo no >> out" },
    { name = "five", run = "echo no >> out" },
]
""")
        self.assertEqual(pasted, ran)
        self.assertTrue(ran.endswith("\n{ braces } a !!\n1\n2\n2\n"), ran)

    def test_only_the_shells_of_steps_read_the_names_of_cells(self):
        """An interactive zsh takes a line that begins with # for a command, and an apostrophe in it for the start of a quote."""
        self.cells("[[cell]]\nid = 'a'\nwhat = \"It's made up\"\nrun = 'true'\n")
        first = self.matrix("run", "--dry-run", "a")[1].partition("\n")[0]
        self.assertTrue(first.startswith("bash "), first)

    def test_history_is_shown(self):
        self.cells(cell("a", "sleep 0.1"))
        self.matrix("run", "a")
        (row,) = json.loads(self.matrix("list", "--json")[1])
        self.assertEqual((row["last"], row["ready"]), ("passed", True))
        self.assertGreaterEqual(row["seconds"], 0.1)
        self.assertIn("last time   passed", self.matrix("explain", "a")[1])
