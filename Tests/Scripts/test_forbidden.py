"""Tests what ci/checks/forbidden finds: lines for each of its rules, planted in a project that has nothing else."""

import subprocess

from own import ProjectCase
from support import LIMIT, environment

NETWORK = "Sources/PusherChannels/Network"
TRAP, DOOR, RANDOM = "traps", "the world is reached", "random numbers"
CLOCK, LIVE, SLEEP, LOOK = "clocks are read", "a clock and what starts", "tests wait for events", "tests are told"
LOG, MESSAGE = "lines of the log", "a message of the log"
LOGGING = "Sources/PusherChannels/Client/ClientCore+Logging.swift"

# The rule that finds a line, the line's file, and the line.
FOUND = [
    (TRAP, "Sources/PusherChannels/Wire/F.swift", 'fatalError("no")'),
    (TRAP, "Sources/PusherChannels/Wire/F.swift", "let a = try! b()"),
    (DOOR, "Sources/PusherChannels/API/F.swift", "        Task { await a() }"),
    (DOOR, "Sources/PusherChannels/API/F.swift", "let task = Task(priority: .low) { await a() }"),
    (DOOR, "Sources/PusherChannels/API/F.swift", "let now = Date()"),
    (RANDOM, f"{NETWORK}/WebSocket/F.swift", "let key: UInt32 = .random(in: 0 ... .max)"),
    (RANDOM, f"{NETWORK}/WebSocket/F.swift", "let host = hosts.randomElement()"),
    (RANDOM, "Sources/PusherChannels/Machine/F.swift", "let delay = Double.random(in: 0..<1)"),
    (RANDOM, "Sources/PusherChannels/Client/F.swift", "var generator = SystemRandomNumberGenerator()"),
    (CLOCK, f"{NETWORK}/Loop/F.swift", "let now = ContinuousClock().now"),
    (CLOCK, f"{NETWORK}/Loop/F.swift", "clock_gettime(CLOCK_MONOTONIC, &time)"),
    (CLOCK, f"{NETWORK}/Connect/F.swift", "        Thread { look() }.start()"),
    (CLOCK, f"{NETWORK}/Connect/F.swift", "DispatchQueue.global().async { look() }"),
    (CLOCK, "Sources/PusherChannels/Client/F.swift", "pthread_create(&thread, nil, body, nil)"),
    (LIVE, f"{NETWORK}/Socket/F.swift", "let now = LiveScheduler.now"),
    (LIVE, f"{NETWORK}/Socket/F.swift", "let scheduler = LiveScheduler()"),
    (LIVE, f"{NETWORK}/Socket/F.swift", 'try SystemThread.start("more") { work() }'),
    (SLEEP, "Tests/PusherChannelsTests/F.swift", "try await Task.sleep(for: .seconds(1))"),
    (SLEEP, "TestSupport/F.swift", "usleep(1000)"),
    (LOOK, "Tests/PusherChannelsTests/F.swift", "while !isDone, !Task.isCancelled { await Task.yield() }"),
    (LOOK, "TestSupport/F.swift", "await Task.yield()"),
    (LOOK, "Tests/TestSupportTests/Scheduler/TestClockTests.swift", "await Task.yield()"),
    (LOG, "Sources/PusherChannels/Machine/F.swift", 'logger.info("connected")'),
    (LOG, "Sources/PusherChannels/API/F.swift", "        options.logger.log("),
    (LOG, "Sources/pusher-channels/F.swift", 'self.logger?.warning("no event of \\(channel)")'),
    (MESSAGE, LOGGING, '        logger.info("connected to \\(host)")'),
    (MESSAGE, LOGGING, '        logger.log(level: .info, "connected to \\(host)", metadata: [:])'),
    (MESSAGE, LOGGING, '        let message = Logger.Message("connected to \\(host)")'),
    (MESSAGE, LOGGING, '        let message: Logger.Message = "connected to \\(host)"'),
]

# Lines that are allowed, each after its file.
ALLOWED = [
    (f"{NETWORK}/F.swift", "    // Not Date(), Task { } nor .random(in: 0 ... .max): try! would trap."),
    ("Sources/PusherChannels/API/F.swift", "let task = session.dataTask(with: request)"),
    ("Sources/PusherChannels/Machine/F.swift", "let delay = Double.random(in: 0..<1, using: &generator)"),
    ("Sources/PusherChannels/Environment/PusherEnvironment.swift", "let seed = UInt64.random(in: .min ... .max), now = Date(), scheduler = LiveScheduler()"),
    ("Sources/PusherChannels/Environment/F.swift", "let now = ContinuousClock().now"),
    (f"{NETWORK}/Loop/F.swift", "    init(startThread: @escaping SystemThread.Starter = SystemThread.start) {"),
    (f"{NETWORK}/Connect/F.swift", "    clock: @escaping @Sendable () -> Instant = { LiveScheduler.now },"),
    (f"{NETWORK}/Loop/NetworkEnvironment.swift", "    var now: @Sendable () -> Instant = { LiveScheduler.now }"),
    ("Tests/PusherChannelsTests/F.swift", "try await clock.sleep(for: .seconds(1))"),
    ("Tests/TestSupportTests/Scheduler/TestExecutorTests.swift", "await Task.yield()"),
    (LOGGING, '        logger.log(level: level, Logger.Message(stringLiteral: line.message.rawValue), metadata: fields)'),
    ("Sources/PusherChannels/API/F.swift", "        logger[metadataKey: field.key.rawValue] = .string(field.value)"),
    ("Tests/Processes/Watchdog.swift", "    while await !isSo() { await Task.yield() }"),
]


class Forbidden(ProjectCase):
    def setUp(self):
        super().setUp()
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        self.copied("ci/checks/forbidden")

    def checked(self, path, *lines, **values):
        """Returns the exit code and the output of the check for a file with these lines."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{line}\n" for line in lines))
        done = subprocess.run(
            [self.project / "ci/checks/forbidden"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=environment(**values), text=True, timeout=LIMIT)
        file.unlink()
        return done.returncode, done.stdout

    def test_each_rule_finds_what_it_is_for(self):
        for rule, path, line in FOUND:
            with self.subTest(line):
                code, said = self.checked(path, "import Foundation", line)
                self.assertEqual(code, 1, said)
                self.assertIn(f"{path}:2:{line}\n", said)
                self.assertRegex(said, rf"(?m)^\^ {rule}")
                self.assertEqual(said.count("^ "), 1, said)

    def test_what_is_none_of_it_may_stand(self):
        for path, line in ALLOWED:
            with self.subTest(line):
                self.assertEqual(self.checked(path, line), (0, ""))

    def test_what_git_is_told_to_do_hides_nothing(self):
        path, line = "Sources/PusherChannels/Wire/F.swift", 'fatalError("no")'
        for key, value in (("submodule.recurse", "true"), ("color.grep", "always"), ("grep.column", "true")):
            with self.subTest(key):
                code, said = self.checked(path, f"// {line}", line, GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0=key, GIT_CONFIG_VALUE_0=value)
                self.assertEqual((code, said.splitlines()[:1]), (1, [f"{path}:2:{line}"]), said)

    def test_where_git_can_not_look_that_is_no_success(self):
        code, said = self.checked("Sources/PusherChannels/Wire/F.swift", 'fatalError("no")', GIT_DIR="/nowhere")
        self.assertNotEqual(code, 0)
        self.assertIn("not a git repository", said)

    def test_three_unchecked_marks_are_allowed(self):
        marks = ["struct A: @unchecked Sendable {}", "nonisolated(unsafe) let b = c()", "/// Not @unchecked Sendable."]
        path = "Sources/PusherChannels/Client/F.swift"
        self.assertEqual(self.checked(path, *marks, marks[0]), (0, ""))
        code, said = self.checked(path, *marks, *marks[:2])
        self.assertEqual((code, said.splitlines()[-1]), (1, "^ 4 unchecked marks in the SDK, three are allowed"))
