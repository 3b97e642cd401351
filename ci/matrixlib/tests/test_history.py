"""Tests what is remembered of a cell that two runs ran."""

import json
import shlex

from support import ProjectCase
from test_run import cell


class HistoryCase(ProjectCase):
    def test_the_result_counts_that_ended_last_and_not_the_run(self):
        """The cell b is what one run goes on with while another one runs a."""
        self.cells(cell("a", "test ! -e broken") + cell("b", f"touch broken; ! {shlex.join(self.command('run', 'a'))}"))
        code, said = self.matrix("run", "*")
        self.assertEqual((code, self.statuses()), (0, {"a": "passed", "b": "passed"}), said)
        self.assertEqual((self.matrix("run", "--last-failed")[0], self.statuses()), (1, {"a": "failed"}))

    def test_a_time_to_come_keeps_no_result_out(self):
        self.cells(cell("a"))
        file = self.project / ".ci/results/history.json"
        file.parent.mkdir(parents=True)
        file.write_text('{"a": {"status": "failed", "time": 99999999999}}')
        self.matrix("run", "a")
        self.assertEqual(json.loads(file.read_text())["a"]["status"], "passed")
