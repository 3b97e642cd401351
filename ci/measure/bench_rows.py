"""The parts that ci/measure/bench measures, and their rows, each of which has its own client and feed."""

import dataclasses

FLOOR, BARE, OURS = "bare recv", "bare libwebsockets", "pusher-channels"
# The sizes of payloads, in the order in which they are measured.
SIZES = {"95 B": 95, "1 KB": 1_000, "10 KB": 10_000, "100 KB": 100_000}


@dataclasses.dataclass(frozen=True)
class Row:
    """A client and its feed, compared with the first row of its group. `{events}` stands for the number of events that it gets.

    That is a share of the number asked for, in steps, or always the same number.
    """
    name: str
    client: tuple
    who: str = OURS
    group: str = ""
    bytes: int = 95
    feed: tuple = ("--events", "{events}")
    tls: bool = False
    share: float = 1
    step: int = 1
    always: int = 0

    @property
    def key(self):
        return self.group, self.name

    def events(self, asked):
        return self.always or max(self.step, int(asked * self.share) // self.step * self.step)


@dataclasses.dataclass(frozen=True)
class Part:
    """Rows that are measured in turn. Costs are for one `unit`; `each` returns the number of units in a result."""
    what: str
    rows: list
    unit: str = "event"
    rounds: int = 100
    each: callable = lambda result: result["events"]


def floor(**options):
    return Row(FLOOR, ("receive", "{events}"), FLOOR, **options)


def bare(**options):
    return Row(BARE, ("{events}",), BARE, **options)


def receiving(name, *client, **options):
    return Row(name, ("receive", *client, "--events", "{events}"), **options)


def beside(count):
    """Returns a row with a loop over one stream, beside `count` other channels with a stream each."""
    return receiving(
        f"beside {count:,} other streams", "--by", "stream", "--others", str(count), share=0.25,
        feed=("--events", "{events}", "--channels", str(count + 1)))


def of_size(name, size, tls):
    """Returns the rows for payloads of one size; large payloads get fewer events."""
    options = {
        "group": f"{name}, TLS" if tls else name, "bytes": size, "tls": tls,
        "share": {95: 0.5, 1_000: 0.25, 10_000: 0.05}.get(size, 0.01)}
    return [
        floor(**options), bare(**options), receiving(CLOSURE, "--by", "closure", **options),
        receiving(STREAM, "--by", "stream", **options)]


def spread(count, way):
    """Returns a row with events in turn on `count` channels, each with a listener."""
    name = "1 channel" if count == 1 else f"{count:,} channels"
    return receiving(
        name, "--by", way, "--channels", str(count), group=f"by {way}", share=0.25, step=count,
        feed=("--events", "{events}", "--channels", str(count), "--spread", str(count)))


def presence(members):
    return receiving(
        f"{members:,} members", "--by", "members", "--channel", "presence-bench", share=0.05, step=2,
        feed=("--events", "{events}", "--members", str(members)))


def pool(connections):
    """Returns a row with ten thousand channels, and events in turn on all channels of a connection."""
    share = 10_000 // connections
    return Row(
        f"10,000 channels over {connections}", ("pool", "--events", "{events}", "--connections", str(connections)),
        share=0.5 / connections, step=share, feed=("--events", "{events}", "--channels", str(share), "--spread", str(share)))


def idle(name, activity, **options):
    return Row(name, ("idle", "--events", "{events}"), always=1_000, feed=("--activity", str(activity)), **options)


def paced(name, who, *client):
    return Row(name, client, who, feed=("--events", "{events}", "--pace", "1000"), always=3_000)


CLOSURE, STREAM, DECODED = "closure, .immediate", "for await", "for await + decode"
QUEUE, CLOSURE_DECODED = "closure, default queue", "closure + decode"
ALONE = "nothing beside it"
SILENT, SILENT_TLS = "1,000 clients, silent", "1,000 clients, silent, TLS"
SENDING, BALL = ("--count", "{events}"), {"feed": (), "always": 10_000}

PARTS = {
    "table": Part("the ways to receive an event of 95 bytes", [
        # Gets more events than the others, because it takes so little time.
        floor(share=4), bare(),
        receiving(CLOSURE, "--by", "closure"),
        receiving(QUEUE, "--by", "queue"),
        receiving(CLOSURE_DECODED, "--by", "closure", "--decode"),
        receiving(STREAM, "--by", "stream"),
        receiving(DECODED, "--by", "stream", "--decode")]),
    "paced": Part("1,000 events of 95 bytes a second, for three seconds", [
        paced(FLOOR, FLOOR, "paced", "{events}"), paced(BARE, BARE, "{events}", "paced"),
        *(paced(name, OURS, "receive", *way, "--paced", "--events", "{events}") for name, way in (
            (CLOSURE, ("--by", "closure")), (QUEUE, ("--by", "queue")), (STREAM, ("--by", "stream")),
            (DECODED, ("--by", "stream", "--decode"))))]),
    "beside": Part("for await beside other channels with a stream each", [
        receiving(ALONE, "--by", "stream", share=0.25), *(beside(count) for count in (100, 1_000, 10_000))]),
    "payloads": Part("payloads by size, without TLS and with it", [
        row for tls in (False, True) for name, size in SIZES.items() for row in of_size(name, size, tls)]),
    "channels": Part("events in turn on channels that are all listened to", [
        spread(count, way) for way in ("closure", "stream") for count in (1, 100, 10_000)]),
    "bindings": Part("closures bound on one channel", [
        receiving("one closure", "--by", "closure", share=0.25),
        receiving("beside 1,000 for other events", "--by", "closure", "--other-bindings", "1000", share=0.25),
        receiving("1,000 for each event", "--by", "closure", "--bindings", "1000", share=0.01)]),
    "presence": Part("members who come and go, by how many are there", [presence(count) for count in (10, 10_000)]),
    "encrypted": Part("encrypted events of 200 bytes beside plain ones", [
        receiving("plain", "--by", "closure", bytes=200, share=0.25),
        receiving("encrypted", "--by", "closure", "--channel", "private-encrypted-bench", bytes=200, share=0.25)]),
    "client-events": Part("client events of 95 bytes sent", [
        Row("bare send", ("send", "{events}", "95"), FLOOR, feed=SENDING, share=0.25),
        Row("trigger", ("trigger", "--events", "{events}"), feed=SENDING, share=0.25)]),
    "pair": Part("a client event there and back between two clients of a process", [
        Row("two bare sockets", ("pair", "{events}"), FLOOR, **BALL),
        Row(CLOSURE, ("pair", "--events", "{events}"), **BALL),
        Row(STREAM, ("pair", "--events", "{events}", "--stream"), **BALL)], "there and back"),
    "again": Part("channels subscribed again on the next connection", [
        Row("10,000 channels", ("again", "--events", "{events}"), always=10_000, feed=("--drop", "--channels", "{events}"))], "channel"),
    "pool": Part("a pool's stream, subscribing included", [pool(1), pool(20)], each=lambda result: result["on_all"]),
    "idle": Part("clients on which nothing happens, for ten seconds", [
        idle(SILENT, 120), idle("1,000 clients, a ping each 2 s", 2), idle(SILENT_TLS, 120, tls=True)], "client and second", 1,
        lambda result: result["events"] * result["seconds"]),
    # Has no feed: the messages are in memory.
    "cost": Part("the dearest bytes that a server can send: nanoseconds in messages of 64 KB and 1 MB", [], "byte"),
}

# The limit for the cost of the most expensive byte, as a multiple of a byte's cost in JSONDecoder.
DEAREST = 0.5
# Limits for a row's cost: part, (group, row), another (group, row) of that part, and the largest multiple of the latter's cost.
# None is a multiple of bare recv, which is the kernel's copying: a client has cost 17 times as much on one machine and 34 times on another.
LIMITS = [
    ("table", ("", CLOSURE), ("", BARE), 2),
    ("table", ("", STREAM), ("", BARE), 3),
    ("table", ("", DECODED), ("", BARE), 6),
    ("beside", ("", beside(10_000).name), ("", ALONE), 1.3),
    ("payloads", ("1 KB", CLOSURE), ("1 KB", BARE), 1),
]

# Limits for the memory that a client takes on which nothing happens.
IDLE_KIB = {SILENT: 16, SILENT_TLS: 45}
