"""Tests when ci/measure/bench fails, and what it writes, with made-up clients whose figures are known."""

import json
import socket
import subprocess
import sys

from own import ROOT, ProjectCase

# Stands in for each program that is compiled: the feed prints its address, the others their costs from the file of figures.
PROGRAM = """#!{python}
import json, sys
if "feed" in sys.argv[0]:
    print("listening on ws://127.0.0.1:1", flush=True)
    sys.stdin.read()
else:
    name = " ".join(sys.argv).rpartition("/")[2]
    figures = json.load(open({figures!r}))
    cost = next(cost for part, cost in figures["costs"] if part in name)
    events = int(sys.argv[sys.argv.index("--events") + 1 if "--events" in sys.argv else -1]) - figures["lost"]
    print(json.dumps({{"events": events, "seconds": 1, "cpu_seconds": cost * events / 1e6}}))
"""


class Bench(ProjectCase):
    def setUp(self):
        super().setUp()
        for file in ("bench", "bench_programs.py", "bench_report.py", "bench_rows.py", "benchmarking.py"):
            self.copied(f"ci/measure/{file}")
        self.copied("ci/tools/build")
        self.program("pkg-config", "#!/bin/sh\n")
        self.program("openssl", "#!/bin/sh\n")
        # Stands in for the build, and prints the folder of its programs.
        self.program("swift", f'#!/bin/sh\necho "{self.programs}"\n')
        self.figures = self.project / "figures"
        self.program("benchmarks", PROGRAM.format(python=sys.executable, figures=str(self.figures)))
        self.program("compiler", f'#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp "{self.programs}/benchmarks" "$2"\n')

    def measured(self, *arguments, lost=0, **costs):
        """Returns the exit code and the output of ci/measure/bench, given the microseconds that an event takes, by default one."""
        known = {"decode": "--decode", "stream": "--by stream", "closure": "--by closure", "bare": "libwebsockets", "floor": "floor"}
        known = {words: costs.get(name, 1) for name, words in known.items()}
        self.figures.write_text(json.dumps({"costs": [*known.items(), ("", 1)], "lost": lost}))
        metrics = self.project / "metrics"
        environment = self.environment(CC=str(self.programs / "compiler"), CI_METRICS=str(metrics))
        done = subprocess.run(
            [sys.executable, self.project / "ci/measure/bench", "--events", "10", "--rounds", "1", "--only", "table", *arguments],
            env=environment, capture_output=True, text=True, stdin=subprocess.PIPE)
        return done.returncode, done.stderr.strip().splitlines()[1:], done.stdout, metrics.read_text() if metrics.exists() else ""

    def test_the_limits_themselves_are_allowed(self):
        code, said, _, metrics = self.measured(closure=20, stream=30, decode=60, bare=10)
        self.assertEqual((code, said), (0, []))
        self.assertIn("closure, .immediate: times bare libwebsockets=2.0\n", metrics)

    def test_more_is_not_and_written_down_all_the_same(self):
        code, said, _, metrics = self.measured(closure=26.5, bare=10)
        self.assertEqual((code, said), (1, ["bench: missed:", "  closure, .immediate: times bare libwebsockets: 2.65, at most 2"]))
        self.assertIn("closure, .immediate: times bare libwebsockets=2.6\n", metrics)

    def test_a_lost_event_says_so_and_gives_no_figure(self):
        code, said, shown, metrics = self.measured(lost=1)
        self.assertEqual((code, said[-1:], shown, metrics), (1, ["bench: bare recv counted 39 of 40 events: 1 lost"], "", ""))

    def test_json_and_nothing_else(self):
        code, _, shown, _ = self.measured("--json", stream=2.5)
        report = json.loads(shown)
        rows = {row["name"]: row for row in report["parts"]["table"]["rows"]}
        self.assertEqual((code, rows["for await"]["cpu_us"], rows["for await"]["times"]), (0, 2.5, 2.5))
        self.assertTrue(all(limit["kept"] for limit in report["limits"]))

    def test_no_round_is_refused_before_anything_is_built(self):
        for rounds in ("0", "-1"):
            code, said, _, _ = self.measured("--rounds", rounds)
            self.assertEqual((code, said[-1]), (2, "bench: error: --rounds must be at least 1"))
        self.assertFalse((self.project / ".build").exists())

    def test_a_first_row_that_took_no_time_is_told(self):
        code, said, _, _ = self.measured(bare=0)
        self.assertEqual((code, said), (1, ["bench: bare libwebsockets took no time that can be measured: --events asks for more"]))

    def test_an_unknown_part(self):
        code, said, _, _ = self.measured("--only", "tables")
        self.assertEqual((code, said[-1]), (2, "bench: error: there is no part tables"))


def masked(payload, opcode):
    """A client's frame with a mask of zeros."""
    return bytes([0x80 | opcode, 0x80 | len(payload), 0, 0, 0, 0]) + payload


class Feed(ProjectCase):
    """The server that a slow client takes more than half a minute to read from: the client pings it then."""

    def test_a_client_that_pings_gets_its_pong_and_all_events(self):
        for ping, pong in ((masked(b'{"event":"pusher:ping","data":{}}', 1), b"pusher:pong"), (masked(b"here", 9), b"here")):
            with self.subTest(pong), subprocess.Popen(
                    [sys.executable, ROOT / "Tests/Benchmarks/feed", "--events", "20000"], stdout=subprocess.PIPE, text=True) as feed:
                self.addCleanup(feed.kill)
                port = int(feed.stdout.readline().rpartition(":")[2])
                with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
                    client.sendall(b"GET / HTTP/1.1\r\nSec-WebSocket-Key: a\r\n\r\n")
                    client.sendall(masked(b'{"event":"pusher:subscribe","data":{"channel":"bench"}}', 1) + ping)
                    received = b""
                    while not received.endswith(b'"data":"{}"}') or b'"done"' not in received[-100:]:
                        received += client.recv(1 << 20)
                    self.assertEqual((received.count(b'"tick"'), received.count(pong)), (20_000, 1))
                    client.sendall(masked(b"", 8))
                self.assertEqual(json.loads(feed.stdout.readline())["events"], 20_000)
                self.assertEqual(feed.wait(), 0)
