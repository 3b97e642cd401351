#if os(Linux)
import Foundation
import Glibc
import Logging
import Processes
import PusherChannels
import Testing
import TestSupport

@testable import pusher_channels

/// Commands whose output nobody reads.
@Suite(.serialized, .watchdog) struct LineWriterTests {
    @Test func `A line writer never blocks its callers, and counts the lines left out beyond its limit`() {
        let (isWriting, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let written = Locked<[String]>([])
        let writer = LineWriter(limit: 3) { line in
            isWriting.signal()
            goOn.wait()
            written.withLock { $0.append(line) }
        }
        writer.add("1")
        isWriting.wait()
        for number in 2...7 { writer.add("\(number)") }
        writer.finish(within: .milliseconds(1))
        #expect(written.withLock { $0 } == [])
        for _ in 1...4 { goOn.signal() }
        writer.finish(within: .seconds(Patience.seconds))
        #expect(written.withLock { $0 } == ["1", "2", "3", "4 lines were left out, because nobody read them"])
        // After they have been reported, left-out lines no longer count.
        goOn.signal()
        writer.add("8")
        writer.finish(within: .seconds(Patience.seconds))
        #expect(written.withLock { $0.last } == "8")
    }

    @Test func `A log line quotes and escapes a server's text that looks like further fields`() {
        let written = Locked<[String]>([])
        let writer = LineWriter { line in written.withLock { $0.append(line) } }
        var logger = Logger(label: "log") { _ in LineLog(lines: writer) }
        logger.logLevel = .trace
        logger.info("An event was received.", metadata: ["channel": "news", "event": "placed channel=orders error=\"none\""])
        writer.finish(within: .seconds(Patience.seconds))
        let line = written.withLock { $0.first } ?? ""
        let text = #"info An event was received. channel=news event="placed channel=orders error=\"none\"""#
        #expect(line.hasSuffix(text), "\(line)")
    }

    @Test func `The serve command serves and ends although nobody reads its notices`() async throws {
        let unread = try NamedPipe(O_RDONLY | O_NONBLOCK)
        let serve = try Command.inShell("serve --port 0", "2>" + unread.path)
        let port = try await serve.listeningPort()
        // More than a pipe holds.
        let path = String(repeating: "x", count: 190)
        for _ in 1...500 {
            let client = try RawClient(port: port)
            client.send(Array("GET /\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
            try #require(try await client.reads(12).bytes == Array("HTTP/1.1 404".utf8))
        }
        serve.signal(SIGTERM)
        #expect(await serve.end() == .exit(0))
        withExtendedLifetime(unread) {}
    }
}
#endif
