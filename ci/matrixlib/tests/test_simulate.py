"""Tests, with the made-up `swift`, that ci/tools/simulate fails if the test that it runs by name isn't there."""

import subprocess
import sys

from support import ROOT, ProjectCase


class SimulateCase(ProjectCase):
    def simulated(self, *tests):
        environment = self.environment(FAKE_TESTS=" ".join(f"SimulationTests/{test}" for test in tests))
        return subprocess.run([sys.executable, ROOT / "ci/tools/simulate", "--seeds", "1"], env=environment, capture_output=True, text=True)

    def test_it_ends_as_the_test_does(self):
        for how, code in (("pass", 0), ("fail", 1)):
            done = self.simulated(f"theClientEndsWhereItIsWanted={how}")
            self.assertEqual((done.returncode, done.stderr), (code, ""))

    def test_without_the_test_it_fails(self):
        for tests in ([], ["renamed=pass"]):
            done = self.simulated(*tests)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, "ci/tools/simulate: there is no test SimulationTests/theClientEndsWhereItIsWanted\n")
