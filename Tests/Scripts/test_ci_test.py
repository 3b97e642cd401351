"""Tests that ci/test says what failed, on a system whose terminal knows few characters, too."""

import json
import subprocess

from own import ROOT, ProjectCase
from support import LIMIT


class LettersCase(ProjectCase):
    def test_what_failed_in_ci_test(self):
        self.copied("ci/test", "ci/tools/build", "ci/tools/within", "ci/tools/together", "ci/tools/tests")
        (self.project / "ci/matrixlib").symlink_to(ROOT / "ci/matrixlib")
        for name in ("setup", "checks/instructions", "checks/misuse", "checks/matrix", "checks/scripts", "checks/none", "tools/simulate", "tools/width", "measure/chaos"):
            (self.project / "ci" / name).parent.mkdir(exist_ok=True)
            (self.project / "ci" / name).write_text("#!/bin/sh\n")
            (self.project / "ci" / name).chmod(0o755)
        name = "Made.Up/größer()/Up.swift:1:2"
        failure = {"kind": "issueRecorded", "testID": name, "issue": {}, "messages": [{"text": "✘"}], "instant": {}}
        records = [("test", {"kind": "function", "id": name}), ("event", failure), ("event", {"kind": "testEnded", "testID": name})]
        (self.project / "events").write_text("".join(json.dumps({"kind": kind, "payload": payload}) + "\n" for kind, payload in records))
        option = "--experimental-event-stream-output"
        self.program("swift", f'#!/bin/sh\n[ "$1" = build ] && exit\nwhile [ "$1" != {option} ]; do shift; done\ncp events "$2"\nexit 1\n')
        few = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
        done = subprocess.run("ci/test", cwd=self.project, env=self.environment(**few), stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
        self.assertNotIn(b"Traceback", done.stdout + done.stderr)
        self.assertEqual(done.returncode, 1)
        self.assertIn("== failed: Made.Up/größer() (:0)\n✘\n".encode(), done.stdout, done.stderr)
