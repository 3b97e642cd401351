"""Tests, with the made-up `swift`, that ci/tools/simulate fails if the test that it runs by name isn't there."""

import subprocess

from own import ROOT, ProjectCase


class SimulateCase(ProjectCase):
    def test_it_ends_as_the_test_does_and_fails_without_it(self):
        self.copied("ci/tools/simulate", "ci/tools/build", "ci/tools/tests", "ci/tools/within", "ci/tools/width")
        (self.project / "ci/matrixlib").symlink_to(ROOT / "ci/matrixlib")
        for test, code in (("Whatever_goes_wrong=pass", 0), ("Whatever_goes_wrong=fail", 1), ("renamed=pass", 1)):
            environment = self.environment(FAKE_TESTS=f"SimulationTests/{test}")
            done = subprocess.run([self.project / "ci/tools/simulate", "--seeds", "1"], env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
