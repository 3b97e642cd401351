"""When ci/bench fails, with made-up clients whose figures are known."""

import json
import shutil
import subprocess
import sys

from support import ROOT, ProjectCase

# Stands in for the server and for both clients: says what it is given and ends.
SAYS = "#!/bin/sh\ncat <<'SAID'\n{}\nSAID\n"


class Bench(ProjectCase):
    def setUp(self):
        super().setUp()
        for file in ("bench", "benchmarking.py", "metrics.py"):
            shutil.copy(ROOT / "ci" / file, self.project / "ci")
        self.program("pkg-config", "#!/bin/sh\n")
        # It would build, and says where.
        self.program("swift", f'#!/bin/sh\necho "{self.programs}"\n')
        feed = self.project / "Tests/Benchmarks/feed"
        feed.parent.mkdir(parents=True)
        feed.write_text(SAYS.format('http://127.0.0.1:1\n{"cpu_seconds": 1, "seconds": 1}'))
        feed.chmod(0o755)

    def measured(self, ours, bare=1, counted=10, arguments=()):
        """What ci/bench ends with, says and writes down, by the seconds of CPU that each client takes."""
        self.program("pusher-channels", SAYS.format(json.dumps({"cpu_seconds": ours, "seconds": 1, "events": counted})))
        self.program("bare", SAYS.format(json.dumps({"cpu_seconds": bare, "seconds": 1, "events": 10})))
        self.program("compiler", f'#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp "{self.programs}/bare" "$2"\n')
        metrics = self.project / "metrics"
        environment = self.environment(CC=str(self.programs / "compiler"), CI_METRICS=str(metrics))
        done = subprocess.run(
            [sys.executable, self.project / "ci/bench", "--events", "10", "--rounds", "1", *arguments], env=environment,
            capture_output=True, text=True)
        return done.returncode, done.stderr.strip(), metrics.read_text() if metrics.exists() else ""

    def test_the_limit_itself_is_allowed(self):
        self.assertEqual(self.measured(3), (0, "", "times the CPU of bare libwebsockets=3.0\n"))

    def test_more_is_not_and_written_down_all_the_same(self):
        said = "bench: missed: 3.02 times the CPU of bare libwebsockets, at most 3"
        self.assertEqual(self.measured(6.04, bare=2), (1, said, "times the CPU of bare libwebsockets=3.0\n"))

    def test_another_limit(self):
        self.assertEqual(self.measured(2, arguments=["--at-most", "0.1"])[0], 1)
        self.assertEqual(self.measured(9, arguments=["--at-most", "9"])[0], 0)

    def test_a_lost_event_says_so_and_gives_no_figure(self):
        self.assertEqual(self.measured(1, counted=9), (1, "bench: pusher-channels counted 9 of 10 events: 1 lost", ""))
