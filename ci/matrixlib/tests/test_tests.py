"""Tests the results of tests: failing, flaky, crashed, hanging, or with a sanitizer's finding. A made-up `swift` replaces the real one."""

import json
import unittest.mock

from support import ProjectCase, last_line

CELL = """
[[cell]]
id = "a"
what = "b"
retries = {retries}
steps = [
    {{ name = "build", kind = "build", run = "swift build" }},
    {{ name = "test", kind = "test", run = "swift test {{report}} {{tests}}", timeout = {timeout} }},
]
"""


def xctest(log):
    """Returns the tests in the log of a run of XCTest."""
    from matrixlib import testlog
    return testlog.xctest(["Test Suite 'All tests' started at 2026-01-01 10:00:00.000\n", *log])[0]


class RanCase(ProjectCase):
    def ran(self, tests, *arguments, retries=2, timeout=30, **values):
        self.cells(CELL.format(retries=retries, timeout=timeout))
        code, said = self.matrix("run", "a", *arguments, FAKE_TESTS=tests, **values)
        self.said = said
        return code, last_line(said)


class TestsCase(RanCase):
    def test_all_pass(self):
        self.assertEqual(self.ran("one=pass two=pass"), (0, "1 passed, 0 failed, 0 skipped"))
        self.assertIn("2 tests", self.said)

    def test_a_compile_error_is_no_failing_test(self):
        self.assertEqual(self.ran("build=fail one=pass"), (3, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("build: does not compile: /made/Up.swift:3: made up", self.said)

    def test_a_check_names_what_it_found(self):
        self.cells('[[cell]]\nid = "a"\nwhat = "b"\nsteps = [{ name = "lint", run = "echo /made/Up.swift:4:1: error: [LineLength] too long; exit 1" }]\n')
        _, said = self.matrix("run", "a")
        self.assertIn("lint: /made/Up.swift:4: [LineLength] too long", said)

    def test_a_failing_test_is_named_with_what_it_said(self):
        self.assertEqual(self.ran("one=pass two=fail"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test: failed 3 times: Made.Up/two()", self.said)
        self.assertIn("Made.Up/two() at /made/Up.swift:7", self.said)
        self.assertIn("1 is not 2", self.said)

    def test_a_flaky_test_has_not_passed(self):
        self.assertEqual(self.ran("one=pass two=flaky"), (0, "0 passed, 0 failed, 0 skipped, 1 flaky"))
        self.assertEqual(self.statuses(), {"a": "flaky"})
        self.assertIn("1 flaky: a", self.said)
        self.assertIn("1 is not 2", self.said, "the first failure is shown")
        (line,) = (self.project / ".ci/flakes.jsonl").read_text().splitlines()
        self.assertEqual(json.loads(line)["test"], "Made.Up/two()")
        self.assertIn("flaky       1 times: Made.Up/two()", self.matrix("explain", "a")[1])
        self.assertIn('<failure message="flaky: 1 is not 2">', (self.project / ".ci/results/junit.xml").read_text())

    def test_a_flaky_test_may_count_as_failed(self):
        self.assertEqual(self.ran("two=flaky", "--fail-on-flaky"), (1, "0 passed, 1 failed, 0 skipped"))

    def test_only_failing_tests_are_retried(self):
        self.ran("one=pass two=flaky three=fail")
        again = (self.project / ".ci/logs/a/test.retry-1.log").read_text().splitlines()[0]
        self.assertIn("two", again)
        self.assertIn("three", again)
        self.assertNotIn("one", again)
        last = (self.project / ".ci/logs/a/test.retry-2.log").read_text().splitlines()[0]
        self.assertNotIn("two", last)
        self.assertEqual({test["name"]: test["status"] for test in self.results()[0]["steps"][1]["tests"]},
                         {"Made.Up/one()": "passed", "Made.Up/two()": "flaky", "Made.Up/three()": "failed"})

    def test_without_retries_a_flaky_test_fails(self):
        self.assertEqual(self.ran("two=flaky", retries=0), (1, "0 passed, 1 failed, 0 skipped"))

    def test_a_failing_test_is_not_flaky_for_a_namesake_that_passes(self):
        self.assertEqual(self.ran("one=namesakes"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("failed 3 times: Made.Up/one()", self.said)

    def test_beside_a_test_that_did_not_end_nothing_is_flaky(self):
        self.assertEqual(self.ran("two=flaky three=exit"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test: ended in the middle of Made.Up/three()", self.said)
        self.assertFalse((self.project / ".ci/logs/a/test.retry-1.log").exists())

    def test_an_issue_outside_of_any_test_is_not_retried_away(self):
        self.assertEqual(self.ran("one=pass two=flaky x=outside"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test: an issue outside of any test: Issue recorded made up; failed: Made.Up/two()", self.said)
        self.assertIn('<error message="an issue outside of any test: ', (self.project / ".ci/results/junit.xml").read_text())
        self.assertEqual(self.ran("one=pass x=outside"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test: an issue outside of any test: Issue recorded made up\n", self.said)

    def test_a_retry_that_fails_for_another_reason_is_none(self):
        """In the retry, the test passes, but a sanitizer finds something."""
        self.assertEqual(self.ran("two=flaky x=race-when-two-passes"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test: failed: Made.Up/two()", self.said)
        self.assertIn("test: attempt 2: a data race", self.said)

    def test_a_crash_is_told_with_the_test_that_ran(self):
        self.assertEqual(self.ran("one=pass two=crash"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test: crashed; running: Made.Up/two()", self.said)
        self.assertIn("Up.swift:7: Fatal error: made up", self.said)
        self.assertFalse((self.project / ".ci/logs/a/test.retry-1.log").exists(), "a crash is not retried")

    def test_of_many_that_ran_the_one_that_the_backtrace_names_crashed(self):
        from matrixlib.diagnosis import in_backtrace
        from matrixlib.results import Test
        running = [Test(f"Made.Up/{name}()", "running") for name in ("one", "anyOne", "two")] + [Test("Made.Up/`three of these`()", "running")]
        log = "one started\ntwo started\nFatal error: made up\n{}\n"
        for frame, found in (
                ("3 two() in x at /made/Up.swift:3", ["Made.Up/two()"]), ("#17 $s4Made2UpV3oneyyYaF /made/Up.swift:61", ["Made.Up/one()"]),
                ("4 three of these() in x", ["Made.Up/`three of these`()"]), ("5 main in x", [])):
            self.assertEqual([test.name for test in in_backtrace(log.format(frame), running)], found)

    def test_what_other_threads_were_in_did_not_crash(self):
        from matrixlib.diagnosis import in_backtrace
        from matrixlib.results import Test
        running = [Test(f"Made.Up/{name}()", "running") for name in ("one", "two", "three")]
        log = ('Up.swift:7: Fatal error: made up\n\nThread 0 "main":\n\n0 one() in x\n\nThread 1 "x" crashed:\n\n0 two() in x\n1 [ra] main in x\n\n'
               'Thread 2:\n\n0 three() in x\n')
        self.assertEqual([test.name for test in in_backtrace(log, running)], ["Made.Up/two()"])

    def test_the_place_of_a_crash_or_a_race_is_the_first_one_in_the_project(self):
        from matrixlib.diagnosis import FRAME, OF_REPORT, place
        frames = "0 [inlined] first in x at /usr/lib/Array.swift:6:1\n1 two() in x at {0}/.build/x.swift:1:1\n2 one() in x at {0}/Tests/Up.swift:7:12\n"
        self.assertEqual(place(FRAME, frames.format("/made"), "/made"), " at Tests/Up.swift:7")
        self.assertEqual(place(FRAME, frames.format("/other"), "/made"), "")
        race = "  #0 $s3one /made/Tests/Up.swift (x+0x1)\n  #1 malloc /src/tsan.cpp:6:5 (x+0x8)\n  #2 $s3one /made/Tests/Up.swift:8:85 (x+0x2)\n"
        self.assertEqual(place(OF_REPORT, race, "/made"), " at Tests/Up.swift:8")
        self.assertEqual(place(OF_REPORT, "    #1 0x55 in $s3two /made/Tests/Up.swift:9:3\n", "/made"), " at Tests/Up.swift:9")

    def test_a_hang_is_not_told_with_those_that_waited_for_their_turn(self):
        self.assertEqual(self.ran("zero=waiting one=pass two=hang", timeout=3), (124, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("not finished within 3 s; running: Made.Up/two()", self.said)

    def test_whoever_waited_when_all_ended_was_not_run(self):
        self.assertEqual(self.ran("one=pass two=waiting"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test: ended in the middle of Made.Up/two()", self.said)

    def test_a_hang_is_told_with_the_test_that_ran(self):
        self.assertEqual(self.ran("one=pass two=hang", timeout=3), (124, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("not finished within 3 s; running: Made.Up/two()", self.said)

    def test_a_daemon_that_a_test_left_is_named_when_the_time_is_up(self):
        self.assertEqual(self.ran("one=pass two=pass x=linger", timeout=3), (124, "0 passed, 1 failed, 0 skipped"))
        self.assertRegex(self.said, r"not finished within 3 s; all 2 tests had ended; was still running: sleep \(pid \d+: sleep 1000\)")

    def test_a_stopped_process_is_told_as_such(self):
        self.assertEqual(self.ran("one=stop", timeout=3), (124, "0 passed, 1 failed, 0 skipped"))
        self.assertRegex(self.said, r"running: Made.Up/one\(\); was still running: \w+ \(pid \d+, stopped \(state T\): ")

    def test_who_recorded_something_before_the_process_ended_is_named_first(self):
        self.assertEqual(self.ran("aa=open bb=open cc=record-and-exit")[0], 1)
        self.assertIn("test: the test process ended (exit, kill or crash) in the middle of Made.Up/cc(), Made.Up/aa(), Made.Up/bb()", self.said)

    def test_a_test_process_that_got_sigkill_is_told_and_what_of_its_cause_is_known(self):
        for counts, words in (([0, 1], "for want of memory"), ([0, 0], "which something other than want of memory sent"),
                              ([None, None], "which the kernel sends where memory is short, or anybody")):
            with unittest.mock.patch("matrixlib.processes.ended_for_memory", side_effect=[0, 0, *counts]):
                self.assertEqual(self.ran("aa=killed")[0], 1)
            self.assertIn(f"running: Made.Up/aa(); signal 9 (SIGKILL), {words}", self.said)

    def test_what_a_sanitizer_found_is_named_and_not_retried_away(self):
        self.assertEqual(self.ran("one=pass x=race"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test: a data race", self.said)
        self.assertIn("| WARNING: ThreadSanitizer: Swift access race", self.said)
        self.assertEqual(self.ran("one=flaky x=leak"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test: a leak", self.said)
        self.assertIn("| Direct leak of 16 bytes", self.said)

    def test_what_a_sanitizer_found_in_the_middle_of_a_long_log_is_no_less(self):
        with unittest.mock.patch("matrixlib.diagnosis.READ", 20):
            self.assertEqual(self.ran("one=flaky x=race"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test: a data race", self.said)

    def test_words_of_a_crash_are_none_where_tests_failed_and_all_ended(self):
        self.ran("one=fail x=words")
        self.assertIn("test: failed 3 times: Made.Up/one()", self.said)

    def test_a_backtrace_is_looked_for_in_a_time_that_grows_with_the_log_alone(self):
        from matrixlib.diagnosis import FRAME, OF_REPORT, in_backtrace, place
        from matrixlib.results import Test
        for pattern in (FRAME, OF_REPORT):  # The square of these lengths would take hours.
            self.assertEqual(place(pattern, "#1" + " at /x" * 700_000, "/made"), "")
        in_backtrace("Fatal error: made up\n" + "Thread 12 did a thing\n" * 100_000, [Test("Made.Up/one()", "running")])

    def test_of_a_test_that_fails_in_a_loop_the_first_messages_are_kept(self):
        from matrixlib.testlog import swift_testing
        events = [json.dumps({"kind": "test", "payload": {"kind": "function", "id": "A.b()/B.swift:1:2"}})]
        events += [json.dumps({"kind": "event", "payload": {
            "kind": "issueRecorded", "testID": "A.b()/B.swift:1:2", "issue": {}, "messages": [{"text": "x" * 30_000}]}})] * 1000
        # A test may write to the file, too.
        events += [*('{"kind": "%s", "payload": %s}' % (kind, payload) for kind in ("event", "test") for payload in (
            "1", "{}", '{"kind": "function"}', '{"testID": "A.b()/B.swift:1:2"}')), "[" * 200_000, "{", "1"]
        (test,), _ = swift_testing(events)
        self.assertEqual([len(message) for message in test.messages], [20_000] * 20 + [8])
        (test,) = xctest(["Test Case 'A.b' started at 2026-01-01"] + ["/x/Y.swift:3: error: A.b : no"] * 1000)
        self.assertEqual(test.messages, ["no"] * 20 + ["and more"])

    def test_no_test_is_no_success(self):
        self.assertEqual(self.ran("one=absent"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test: no test was run", self.said)

    def test_tests_that_were_all_skipped_are_no_success(self):
        self.assertEqual(self.ran("one=skip two=skip"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test: no test was run: all 2 were skipped", self.said)

    def test_skipped_tests_are_counted_beside_the_others(self):
        self.assertEqual(self.ran("one=pass two=pass three=skip"), (0, "1 passed, 0 failed, 0 skipped"))
        self.assertIn(" 3 tests, 1 skipped\n", self.said)
        self.assertIn('<skipped message="made up" />', (self.project / ".ci/results/junit.xml").read_text())
        _, said = self.matrix("report", "--html", str(self.project / "page.html"))
        self.assertIn(" | 3, 1 skipped | ", said)
        self.assertIn("<td>3, 1 skipped</td>", (self.project / "page.html").read_text())

    def test_xctest_is_read_from_what_it_prints(self):
        from matrixlib.testlog import only
        log = ("Test Case 'Some.testA' started at 2026-01-01\nTest Case 'Some.testA' passed (0.001 seconds)\n"
               "Test Case 'Some.testB' started at 2026-01-01\n/x/Y.swift:3: error: Some.testB : XCTAssertEqual failed\n"
               "Test Case 'Some.testB' failed (0.2 seconds)\nTest Case 'Some.testC' started at 2026-01-01\n")
        found = xctest(log.splitlines())
        self.assertEqual([(test.name, test.status) for test in found],
                         [("Some/testA", "passed"), ("Some/testB", "failed"), ("Some/testC", "running")])
        self.assertEqual((found[1].file, found[1].line, found[1].messages), ("/x/Y.swift", 3, ["XCTAssertEqual failed"]))
        self.assertEqual(only(found[1:2]), ["--filter", r"\.Some/testB$"])

    def test_a_message_of_an_xctest_is_kept_with_all_its_lines(self):
        log = ("Test Case 'S.a' started at 1\n/x/Y.swift:3: error: S.a : failed - one\ntwo\n\nthree\n/x/Y.swift:4: error: S.a : failed - four\n"
               "Test Case 'S.a' failed (0.1 seconds)\nTest Suite 'S' failed at 2\n")
        (test,) = xctest(log.splitlines(keepends=True))
        self.assertEqual(test.messages, ["failed - one\ntwo\n\nthree", "failed - four"])
        (test,) = xctest(["Test Case 'S.a' started at 1\n", "/x/Y.swift:3: error: S.a : no\n", *["what it prints next\n"] * 1000])
        self.assertEqual(test.messages[0].count("\n"), 20)

    def test_why_an_xctest_was_skipped_is_kept(self):
        log = ("Test Case 'S.a' started at 1\n/x/Y.swift:3: S.a : Test skipped - no network\nTest Case 'S.a' skipped (0.1 seconds)\n"
               "Test Case '-[M.S b]' started.\n/x/Y.swift:4: -[M.S b] : Test skipped: required true value but got false - so\n"
               "Test Case '-[M.S b]' skipped (0.1 seconds).\nTest Case 'S.c' started at 1\n/x/Y.swift:3: S.c : Test skipped\n"
               "Test Case 'S.c' skipped (0.1 seconds)\n")
        self.assertEqual([(test.status, test.messages) for test in xctest(log.splitlines(keepends=True))], [
            ("skipped", ["no network"]), ("skipped", ["required true value but got false - so"]), ("skipped", [])])

    def test_of_two_xctests_of_one_name_each_has_its_own_end(self):
        log = ("Test Case 'Some.testA' started at 2026-01-01\n/x/Y.swift:3: error: Some.testA : no\nTest Case 'Some.testA' failed (0.2 seconds)\n"
               "Test Case 'Some.testA' started at 2026-01-01\nTest Case 'Some.testA' passed (0.1 seconds)\n")
        self.assertEqual([(test.status, test.messages) for test in xctest(log.splitlines())], [("failed", ["no"]), ("passed", [])])

    def test_xctest_is_read_as_it_is_printed_on_a_mac_and_behind_what_has_no_end(self):
        log = ("Test Case '-[Made.Some testA]' started.\nTest Case '-[Made.Some testA]' passed (0.001 seconds).\n"
               "Test Case '-[Made.Some testB]' started.\n/x/Y.swift:3: error: -[Made.Some testB] : XCTAssertEqual failed\n"
               "Test Case '-[Made.Some testB]' failed (0.2 seconds).\nTest Case '-[Some testC]' started.\nTest Case '-[Some testC]' skipped (0.5 seconds).\n"
               "50 %Test Case 'Some.testD' started at 2026-01-01\n100 %Test Case 'Some.testD' failed (0.25 seconds)\n"
               "It said \"Test Case 'Some.testD' passed (0.1 seconds)\", which is none.\n")
        found = xctest(log.splitlines(keepends=True))
        self.assertEqual([(test.name, test.status, test.seconds) for test in found],
                         [("Some/testA", "passed", 0.001), ("Some/testB", "failed", 0.2), ("Some/testC", "skipped", 0.5), ("Some/testD", "failed", 0.25)])
        self.assertEqual((found[1].file, found[1].line, found[1].messages), ("/x/Y.swift", 3, ["XCTAssertEqual failed"]))
