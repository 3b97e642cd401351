"""Builds the programs that ci/measure/bench runs, and runs a client against a feed."""

import contextlib
import dataclasses
import json
import pathlib
import subprocess
import tempfile

from bench_rows import BARE, DEAREST, FLOOR
from benchmarking import LIMIT, build, compile_c, next_line, port_of, running, stop


@dataclasses.dataclass(frozen=True)
class Programs:
    """The programs, and the feed's certificate, which clients trust, with its key."""
    client: pathlib.Path
    bare: pathlib.Path
    feed: pathlib.Path
    floor: pathlib.Path
    certificate: pathlib.Path
    key: pathlib.Path

    def feed_command(self, row, events):
        tls = ("--certificate", self.certificate, "--key", self.key) if row.tls else ()
        return [self.feed, "--bytes", str(row.bytes), *tls, *filled(row.feed, events)]

    def client_command(self, row, port, events):
        trusted, arguments = self.certificate if row.tls else "-", filled(row.client, events)
        if row.who == FLOOR:
            return [self.floor, port, trusted, *arguments]
        if row.who == BARE:
            return [self.bare, port, trusted, *arguments]
        return [self.client, *arguments, "--port", port, *(("--certificate", self.certificate) if row.tls else ())]

    def measure(self, row, asked):
        """Runs a client against a fresh feed; returns the figures that it prints."""
        events = row.events(asked)
        with running(self.feed_command(row, events)) as feed:
            with running(self.client_command(row, port_of(feed, "the feed"), events)) as client:
                result = json.loads(next_line(client, row.name))
                status = client.wait(LIMIT)
        if status != 0:
            stop(f"{row.name} ended with status {status}")
        if result["events"] != events:
            stop(f"{row.name} counted {result['events']} of {events} events: {events - result['events']} lost")
        return result

    def dearest(self, part):
        """Returns what the most expensive bytes cost, of all places and shapes that are tried."""
        command = [self.client, "cost", "--limit", str(DEAREST), "--largest", str(1 << 20), "--lines", "10"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        *table, result = done.stdout.splitlines() or [""]
        if not result.startswith("{"):
            stop(f"cost ended with status {done.returncode} and no result")
        return {"what": part.what, "unit": part.unit, "rows": [], "table": table, **json.loads(result)}


def filled(arguments, events):
    return [str(events) if argument == "{events}" else argument for argument in arguments]


@contextlib.contextmanager
def built():
    """Builds the programs, and makes a certificate for as long as they are used."""
    client = build("benchmarks") / "benchmarks"
    bare = compile_c("bare-libwebsockets", ["bare-libwebsockets/client.c"], ["libwebsockets"])
    feed = compile_c("channels-feed", ["channels/feed.c", "channels/events.c", "channels/peer.c"], ["openssl", "libsodium"])
    floor = compile_c("floor", ["channels/floor.c"], ["openssl"])
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = make_certificate(pathlib.Path(folder))
        yield Programs(client, bare, feed, floor, certificate, key)


def make_certificate(folder):
    """Makes a self-signed certificate for localhost; returns its file and its key's file."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key
