"""Tests that the cause that is named is the cause: not what a test prints, not another fault that the log has, too."""

from support import ProjectCase, last_line
from test_tests import RanCase, xctest

PRINTED = "Test Case 'X.y' started at 2026-01-01 10:00:00.000"
RUN = "Test Suite 'All tests' {} at 2026-01-01 10:00:00.000"
PASSED = (0, "1 passed, 0 failed, 0 skipped")
BUILD = '{ run = "echo x >> builds; false", name = "build", kind = "build" }'


class CausesCase(RanCase):
    def test_xctests_in_parallel_that_pass_are_counted(self):
        for arguments in ("--parallel",), ("--parallel", "--num-workers", "2"):
            self.assertEqual(self.ran("xctest=parallel", "--", *arguments), PASSED, self.said)
            self.assertIn(" 2 tests\n", self.said)
        self.assertEqual(self.results()[0]["steps"][1]["tests"][0]["name"], "Up/testA")

    def test_xctests_in_parallel_are_counted_once_though_failing_ones_are_printed(self):
        from matrixlib.results import Test
        from matrixlib.testlog import parallel
        file = self.project / "x.xml"
        file.write_text("<a><testcase classname='M.Up' name='a' time='1'/><testcase classname='M.Up' name='b'><failure/></testcase>"
                        "<testcase classname='M.Up' name='c'><failure/></testcase></a>")
        self.assertEqual([(test.name, test.status) for test in parallel(file, [Test("Up/b", "failed")])], [("Up/a", "passed"), ("Up/c", "failed")])

    def test_what_a_test_prints_is_no_test(self):
        for printed in (PRINTED, PRINTED.partition(" started")[0] + " failed (0.1 seconds)", RUN.format("passed"), "/x/Y.swift:3: error: X.y : no"):
            self.assertEqual(self.ran("xctest=pass one=pass", FAKE_PRINTS=printed), PASSED, self.said)
            self.assertIn(" 3 tests\n", self.said)

    def test_the_beginning_of_a_run_that_a_test_prints_is_none(self):
        from matrixlib import testlog
        log = [RUN.format("started"), "Test Case 'A.b' started at 1", RUN.format("started"), "Test Case 'A.b' passed (0.1 seconds)", RUN.format("passed")]
        self.assertEqual([(test.name, test.status) for test in testlog.xctest(log)[0]], [("A/b", "passed")])
        self.assertEqual(testlog.xctest(log)[1], [])

    def test_a_test_that_prints_its_own_end_still_ends_as_it_does(self):
        log = ["Test Case 'A.b' started at 1", "Test Case 'A.b' passed (0.1 seconds)", "/x/Y.swift:3: error: A.b : no", "Test Case 'A.b' failed (0.2 seconds)"]
        self.assertEqual([(test.status, test.messages) for test in xctest(log)], [("failed", ["no"])])

    def test_the_tests_of_the_process_after_one_that_crashed_are_read(self):
        log = ["Test Case 'A.b' started at 1", "Fatal error: x", RUN.format("started"), "Test Case 'A.c' started at 1", "Test Case 'A.c' failed (0.2 seconds)"]
        self.assertEqual([(test.name, test.status) for test in xctest(log)], [("A/b", "running"), ("A/c", "failed")])

    def test_a_failed_expectation_is_shown_and_not_a_compilers_error_that_a_test_prints(self):
        self.ran("one=fail", FAKE_PRINTS="/made/Other.swift:3:1: error: made up", GITHUB_ACTIONS="true")
        self.assertIn("    | Made.Up/one() at /made/Up.swift:7\n", self.said)
        self.assertNotIn("| /made/Other.swift:3", self.said)
        self.assertNotIn("file=/made/Other.swift", self.said)

    def test_a_use_after_free_is_named_and_not_the_leaks_beside_it(self):
        self.ran("one=pass x=leak-and-use")
        self.assertIn("test: heap-use-after-free, found by the address sanitizer", self.said)
        self.assertIn("| ==2==ERROR: AddressSanitizer", self.said)

    def test_the_command_itself_is_no_cause(self):
        found = "ERROR: AddressSanitizer: heap-use-after-free on x"
        self.cells(f"[[cell]]\nid = 'a'\nwhat = 'b'\nrun = \"! echo '{found}' | grep -q Address >/dev/null\"\n"
                   f"[[cell]]\nid = 'c'\nwhat = 'd'\nrun = \"echo '{found}'\"\n")
        said = self.matrix("run", "*")[1]
        self.assertRegex(said, r"failed +a .* exit 1\n")
        self.assertIn("exit 0, but its log has heap-use-after-free", said)

    def test_a_crash_of_xctest_in_parallel_is_one(self):
        from matrixlib.diagnosis import SIGNAL
        self.assertTrue(SIGNAL.search("error: Process '/x/P.xctest A.A/testD' exited with unexpected signal code 4"))


class OnceCase(ProjectCase):
    def test_a_shared_build_that_failed_is_not_built_again(self):
        self.cells(f'[[cell]]\nid = "a"\nwhat = "b"\nsteps = [{BUILD}]\n[[cell]]\nid = "c"\nwhat = "d"\nbuild = "a"\nsteps = [{BUILD}, "touch tested/"]\n')
        code, said = self.matrix("run", "*")
        self.assertEqual((code, last_line(said)), (3, "0 passed, 2 failed, 0 skipped"), said)
        self.assertEqual((self.project / "builds").read_text(), "x\n")
        self.assertIn("failed: c: build: exit 1", said)

    def test_what_a_step_starts_to_clean_up_has_time_for_that(self):
        """As a trap's commands, which a shell starts when it is told to end."""
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\ntimeout = 1\nrun = 'trap \"sleep 1.2; touch cleaned\" EXIT; sleep 1000'\n")
        self.assertEqual(self.matrix("run", "a")[0], 124)
        self.assertTrue((self.project / "cleaned").exists())


class HostsCase(ProjectCase):
    def test_names_of_jobs_are_those_that_hosts_take(self):
        for name in ("a/b", "a:b", "", "ä", "a" * 101, " a", "a\\nb"):
            self.cells(f'[[cell]]\nid = "a"\nwhat = "b"\nrun = "true"\njob = "{name}"\n')
            code, said = self.matrix("github")
            self.assertEqual(code, 2, said)
            self.assertIn("a job's name is made of", said)

    def test_more_jobs_than_hosts_take_are_refused(self):
        self.cells("".join(f'[[cell]]\nid = "a{number}"\nwhat = "b"\nrun = "true"\n' for number in range(257)))
        self.assertEqual(self.matrix("github"), (2, "matrix: 257 hosted jobs, and a host takes 256: cells with the same 'job' share one\n"))
        self.assertEqual(self.matrix("github", "!a0")[0], 0)

    def test_what_means_something_in_an_annotation_is_written_in_another_way(self):
        from matrixlib.details import annotation
        self.assertEqual(annotation("error", "a,b: c%\n", file="A, B:1.swift", line=3), "::error file=A%2C B%3A1.swift,line=3::a,b: c%25%0A")

    def test_init_is_named_only_where_it_works(self):
        self.assertIn("init writes a first one for a Swift package, and this is none\n", self.matrix("list")[1])
        (self.project / "Package.swift").touch()
        self.assertRegex(self.matrix("list")[1], "init writes a first one\n")


class PiecesCase(ProjectCase):
    def test_a_letter_that_is_written_in_two_pieces_is_shown_as_one(self):
        self.cells(r"""[[cell]]
id = 'a'
what = 'b'
run = '''printf "gr\xc3"; sleep 0.7; printf "\xb6sse\n"'''
""")
        self.assertIn("a | grösse\n", self.matrix("run", "a", "-v")[1])
