"""What ci/bench measures: rows, each a client of its own beside a feed of its own, in parts that are measured round by round."""

import contextlib
import dataclasses
import json
import pathlib
import subprocess
import tempfile

from benchmarking import LIMIT, build_client, compile_c, next_line, port_of, running, stop

FLOOR, BARE, OURS = "bare recv", "bare libwebsockets", "pusher-channels"
SIZE = 95


@dataclasses.dataclass(frozen=True)
class Row:
    """A client and its feed; `factor` says how many of the asked events it gets, for what costs more than the others."""
    name: str
    client: tuple
    who: str = OURS
    bytes: int = SIZE
    feed: tuple = ()
    tls: bool = False
    factor: float = 1

    def events(self, asked):
        # A multiple of the most channels that they are spread over.
        return max(10_000, int(asked * self.factor) // 10_000 * 10_000) if self.factor > 0.02 else int(asked * self.factor)


def marks(tls=False, size=SIZE, factor=1):
    """The rows that the others are measured against."""
    return [Row(FLOOR, ("receive",), FLOOR, size, (), tls, factor), Row(BARE, (), BARE, size, (), tls, factor)]


def receiving(name, *client, **options):
    return Row(name, ("receive", *client), **options)


def beside(count):
    """A loop over one stream, and so many channels beside it that have one each."""
    return receiving(
        f"for await beside {count:,} other streams", "--by", "stream", "--others", str(count), feed=("--channels", str(count + 1)), factor=0.1)


CLOSURE, STREAM, DECODED = "closure, .immediate", "for await", "for await + decode"
ONE_STREAM = "for await, nothing beside it"

PARTS = {
    "table": [
        *marks(),
        receiving(CLOSURE, "--by", "closure"),
        receiving("closure, default queue", "--by", "queue"),
        receiving("closure + decode", "--by", "closure", "--decode"),
        receiving(STREAM, "--by", "stream"),
        receiving(DECODED, "--by", "stream", "--decode"),
    ],
    "beside": [
        receiving(ONE_STREAM, "--by", "stream", factor=0.1),
        *(beside(count) for count in (100, 1_000, 10_000)),
    ],
}


@dataclasses.dataclass(frozen=True)
class Programs:
    """What is run; the certificate and its key are for the feed, the certificate is what clients trust."""
    client: pathlib.Path
    bare: pathlib.Path
    feed: pathlib.Path
    floor: pathlib.Path
    certificate: pathlib.Path
    key: pathlib.Path

    def feed_command(self, row, events):
        tls = ("--certificate", self.certificate, "--key", self.key) if row.tls else ()
        return [self.feed, "--events", str(events), "--bytes", str(row.bytes), *tls, *row.feed]

    def client_command(self, row, port, events):
        trusted = self.certificate if row.tls else "-"
        if row.who == FLOOR:
            return [self.floor, port, trusted, *row.client, str(events)]
        if row.who == BARE:
            return [self.bare, port, trusted, str(events)]
        tls = ("--certificate", self.certificate) if row.tls else ()
        return [self.client, *row.client, "--port", port, "--events", str(events), *tls]

    def measure(self, row, asked):
        """Runs a client against a fresh feed; returns what it cost the client, and the feed."""
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


@contextlib.contextmanager
def built():
    """Builds the programs, and makes a certificate for a while."""
    client = build_client("benchmarks")
    bare = compile_c("bare-libwebsockets", ["bare-libwebsockets/client.c"], ["libwebsockets"])
    feed = compile_c("channels-feed", ["channels/feed.c", "channels/events.c", "sockets/peer.c"], ["openssl", "libsodium"])
    floor = compile_c("floor", ["channels/floor.c"], ["openssl"])
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = pathlib.Path(folder) / "certificate.pem", pathlib.Path(folder) / "key.pem"
        names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
        yield Programs(client, bare, feed, floor, certificate, key)
