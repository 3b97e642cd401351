"""Tests that nothing passes, or is taken for flaky, by an exit code or a retry alone: what no fact explains has failed."""

from support import last_line
from test_tests import RanCase

FAILED = (1, "0 passed, 1 failed, 0 skipped")


class LastingCase(RanCase):
    """A failure that lasts isn't retried away."""

    def test_an_exit_code_that_a_failing_test_does_not_explain(self):
        self.assertEqual(self.ran("one=late two=flaky"), FAILED)
        self.assertIn("test: failed: Made.Up/two(); exit 3, which no failing test explains\n", self.said)
        self.assertFalse((self.project / ".ci/logs/a/test.retry-1.log").exists())

    def test_an_exit_code_that_is_the_same_as_that_of_a_test_which_fails_and_passes(self):
        """As of `swift test`, which ends with 1 whatever its processes end with."""
        self.assertEqual(self.ran("one=hidden two=flaky"), FAILED)
        self.assertIn("test: failed: Made.Up/two(), which passed alone; all tests again: exit 1\n", self.said)
        self.assertIn('<error message="failed: Made.Up/two(), which passed alone', (self.project / ".ci/results/junit.xml").read_text())

    def test_a_test_that_fails_whenever_others_run_before_it(self):
        self.assertEqual(self.ran("one=pass two=not-alone"), FAILED)
        self.assertIn("test: failed: Made.Up/two(), which passed alone; all tests again: failed: Made.Up/two()\n", self.said)
        self.assertRegex(self.said, "again: .* run a --step build --step test\n", "alone, it would pass")
        self.assertEqual([test["status"] for test in self.results()[0]["steps"][1]["tests"]], ["passed", "failed"])
        self.assertFalse((self.project / ".ci/flakes.jsonl").exists())

    def test_an_exit_code_of_0_beside_a_failing_test(self):
        self.cells('[[cell]]\nid = "a"\nwhat = "b"\nsteps = [{ name = "test", run = "swift test {report} {tests} || true" }]\n')
        code, said = self.matrix("run", "a", FAKE_TESTS="one=pass two=flaky")
        self.assertEqual((code, last_line(said)), FAILED)
        self.assertIn("test: failed: Made.Up/two(); exit 0\n", said)

    def test_a_step_is_flaky_only_if_all_its_tests_pass_together(self):
        self.assertEqual(self.ran("one=pass two=flaky")[1], "0 passed, 0 failed, 0 skipped, 1 flaky")
        commands = [(self.project / f".ci/logs/a/test.retry-{number}.log").read_text().splitlines()[0] for number in (1, 2)]
        self.assertEqual(["--filter" in command for command in commands], [True, False])

    def test_the_workflow_that_init_writes_fails_on_flaky(self):
        (self.project / "Package.swift").touch()
        self.matrix("init")
        self.assertRegex((self.project / ".github/workflows/ci.yml").read_text(), r"run: \$MATRIX run .*--fail-on-flaky .*\$CELLS\n")


class UnfinishedCase(RanCase):
    """Tests that were never run don't pass."""

    def test_xctest_that_ends_between_two_tests(self):
        self.assertEqual(self.ran("xctest=cut one=pass"), FAILED)
        self.assertIn("test: XCTest did not run to its end, so tests may be missing; exit 0\n", self.said)
        self.assertEqual(self.ran("xctest=cut one=flaky"), FAILED)
        self.assertIn("test: XCTest did not run to its end, so tests may be missing; failed: Made.Up/one()\n", self.said)
        self.assertEqual(self.ran("xctest=pass one=pass")[0], 0, self.said)

    def test_swift_testing_that_ends_before_its_first_test(self):
        self.assertEqual(self.ran("xctest=pass one=pass x=early"), FAILED)
        self.assertIn("test: Swift Testing reported nothing: --disable-swift-testing leaves it out; exit 0\n", self.said)

    def test_swift_testing_that_the_package_is_too_old_for(self):
        self.assertEqual(self.ran("xctest=pass x=early", FAKE_TOOLS="5.8.0")[0], 0, self.said)
        self.assertEqual(self.ran("xctest=pass x=early", FAKE_TOOLS="5.9.0"), FAILED, self.said)

    def test_swift_testing_that_the_packages_own_main_file_does_not_start(self):
        (self.project / "Tests").mkdir()
        (self.project / "Tests/LinuxMain.swift").touch()
        self.assertEqual(self.ran("xctest=pass x=early")[0], 0, self.said)

    def test_swift_testing_that_ends_before_the_end_of_its_run(self):
        self.assertEqual(self.ran("one=pass two=leave"), FAILED)
        self.assertIn("test: Swift Testing did not run to its end, so tests may be missing; exit 0\n", self.said)

    def test_swift_testing_that_is_not_to_run(self):
        self.assertEqual(self.ran("xctest=pass", "--", "--disable-swift-testing")[0], 0, self.said)

    def test_the_end_of_xctests_run_is_kept_of_a_long_log(self):
        from matrixlib.output import MATTER
        self.assertTrue(MATTER.search(b"Test Suite 'All tests' passed at 2026-01-01 10:00:00.000"))

    def test_the_end_of_xctests_run_is_read_as_it_is_printed_on_a_mac(self):
        from matrixlib.testlog import XCTEST_RUN
        for line, known in (("started at 2026-01-01 10:00:00.000.", True), ("failed at 2026-01-01 10:00:00.000.", True), ("passed at noon", False)):
            self.assertEqual(bool(XCTEST_RUN.search(f"Test Suite 'All tests' {line}\n")), known, line)

    def test_a_canceled_test_has_not_passed(self):
        self.assertEqual(self.ran("one=cancel two=cancel"), FAILED)
        self.assertIn("test: no test was run: all 2 were skipped", self.said)
        self.assertEqual(self.ran("one=cancel two=pass")[0], 0)
        self.assertIn('<skipped message="made up" />', (self.project / ".ci/results/junit.xml").read_text())
