import Foundation
import Logging
import Processes
import TestSupport
import Testing

@testable import PusherChannels

@Suite struct LoggingTests {
    private let lines = Locked<[String]>([])

    private func rig(
        auth: AuthMethod = .inline(secret: "secret"), _ change: (inout PusherClientOptions) -> Void = { _ in }
    ) -> ClientRig {
        .connected(auth: auth) { options in
            options.logger = LineRecorder.logger(lines)
            change(&options)
        }
    }

    @Test func `The log lines of a connection name its host, key, attempt, and socket ID`() {
        let rig = rig(auth: .noMethod)
        rig.pusher.subscribe("private-room")
        rig.pusher.disconnect()
        let written = lines.withLock { $0 }
        let common = "host=ws.pusherapp.com key=key"
        #expect(written.contains("debug [attempt=1 \(common)] connecting"))
        #expect(written.contains("info [attempt=1 \(common) socket_id=46123.486095] connected"))
        let reason = "private-room needs authorization, but the client has no auth method"
        // Quotation marks are the handler's job, and the delegate gets the line as it is to be read.
        #expect(written.contains { $0.hasPrefix("warning [attempt=1 channel=private-room error=\(reason)") })
        #expect(written.contains("debug [attempt=1 \(common) socket_id=46123.486095] disconnected"))
        #expect(rig.recorder.log.contains("connected attempt=1 socket_id=46123.486095"))
        #expect(rig.recorder.log.contains { $0.hasPrefix("not subscribed channel=private-room error=\"\(reason)") })
    }

    @Test func `A lost connection's log line tells the reason and the delay of the next attempt`() {
        let rig = rig()
        rig.socket.serverCloses(code: 4100, reason: "over \"capacity\"")
        let reason = #"error="the server closed the connection: over \"capacity\"" kind=server code=4100"#
        let delay = rig.pusher.connection.timeToNextAttempt.map { $0 / .seconds(1) } ?? 0
        #expect(delay >= 1)
        let line = "reconnecting \(reason) attempt=1 socket_id=46123.486095 delay="
        let written = rig.recorder.log.last ?? ""
        #expect(written.hasPrefix(line) && written.hasSuffix("s"))
        #expect(Double(written.dropFirst(line.count).dropLast()).map { abs($0 - delay) < 0.001 } == true, "\(written)")
    }

    @Test func `Each failed attempt logs one warning, and a failed channel logs one for each reason`() throws {
        let rig = rig(auth: .endpoint(authEndpoint: "http://auth.example/"))
        rig.session.stub("POST /", .http(500), .http(500), .http(503))
        rig.pusher.subscribe("private-room")
        rig.scheduler.advance(by: .seconds(10))
        try rig.socket.inject(.refused)
        rig.socket.drop()
        rig.scheduler.advance(by: .seconds(30))
        let warnings = lines.withLock { $0 }.filter { $0.hasPrefix("warning") }
        #expect(warnings.count { $0.hasSuffix("not subscribed") } == 2)
        let failed = warnings.filter { $0.hasSuffix("reconnecting") }.map { $0.prefix("warning [attempt=1".count) }
        #expect(failed.count > 1 && Set(failed).count == failed.count && warnings.count == failed.count + 2, "\(warnings)")
    }

    @Test func `A failed channel's log line tells the delay of the next try, if there is one`() throws {
        let rig = rig(auth: .endpoint(authEndpoint: "http://auth.example/"))
        rig.session.stub("POST /", StubResponse(status: 429, headers: ["Retry-After": "7"]), .http(403))
        rig.pusher.subscribe("private-room")
        #expect(
            rig.recorder.log.last?.hasSuffix("kind=authorization code=429 attempt=1 socket_id=46123.486095 delay=7.000s") == true)
        rig.scheduler.advance(by: .seconds(7))
        #expect(rig.recorder.log.last?.hasSuffix("kind=authorization code=403 attempt=1 socket_id=46123.486095") == true)
    }

    @Test(arguments: ["ann:s3cr3t@example.com", "https://ann:s3cr3t@example.com/?token=s3cr3t", "example.com?token=s3cr3t"])
    func `The host in log lines shows no credentials and no query`(host: String) {
        let rig = rig(auth: .noMethod) { $0.host = .host(host) }
        rig.pusher.disconnect()
        let written = lines.withLock { $0 }
        #expect(!written.isEmpty)
        for line in written { #expect(line.contains("example.com") && !line.contains("s3cr3t")) }
    }

    @Test func `A server's text can't break, reverse, color, or flood a log line`() {
        let rig = rig()
        rig.pusher.subscribe("room")
        let evil = "no\n\u{1B}[31mdisk full\u{202E}" + String(repeating: "x", count: 1 << 20)
        let text = evil.quotedJSON
        for frame in [
            #"{"event":\#(text),"channel":"room","data":"{}"}"#,
            #"{"event":\#(text),"channel":\#(text),"data":"{}"}"#,
            #"{"event":"pusher:error","data":{"message":\#(text),"code":4301}}"#,
            #"{"event":"pusher:error","data":\#(text)}"#,
            #"{"event":"pusher:subscription_error","channel":"room","data":{"type":\#(text),"error":\#(text),"status":\#(text)}}"#,
            #"{"event":"pusher_internal:member_added","channel":\#(text),"data":{"user_id":\#(text)}}"#,
            #"{"event":"pusher_internal:subscription_succeeded","channel":\#(text),"data":{}}"#,
            #"{"event":\#(("pusher:" + evil).quotedJSON),"data":{}}"#,
            #"{"event":\#(("pusher:" + evil).quotedJSON),"channel":\#(text),"data":{}}"#,
            #"{\#(text):\#(text)}"#,
            text,
        ] {
            rig.socket.serverSends(frame)
        }
        rig.socket.serverCloses(code: 4100, reason: String(evil.prefix(50)))
        let written = lines.withLock { $0 } + rig.recorder.log
        #expect(written.count { $0.contains("disk full") } >= 8)
        for line in written {
            #expect(line.utf8.count < 2_000)
            #expect(!line.unicodeScalars.contains { ["\n", "\u{1B}", "\u{202E}"].contains($0) })
        }
    }
}

/// All log lines have constant messages, known keys and no secrets, and a documentation page lists them.
@Suite struct LogLinesTests {
    private static let secret = "s3cr3t"
    private static let evil =
        "no\n\u{1B}[31m channel=x \"y\" https://ann:\(secret)@example.com/auth?token=\(secret)#\(secret) "
        + String(repeating: "x", count: 5_000)
    private static let name = Name("pusher:\(String(repeating: "a\n", count: 1_000))")
    private static let error = PusherError(.authorization, code: 403, message: evil)
    private static let restart = PusherError(.server, code: 4200, message: evil)

    /// A line of each kind, and each state with and without a reason if both occur.
    private static let samples: [LogLine] = [
        .state(.connecting, because: nil), .state(.connecting, because: error), .state(.connected, because: nil),
        .state(.disconnecting, because: nil), .state(.disconnected, because: nil), .state(.disconnected, because: error),
        .state(.reconnecting, because: error), .state(.reconnecting, because: restart), .state(.connecting, because: restart),
        .error(error), .clientReleased, .shutDown, .undelivered(7), .leftOut(.error, count: 7, .warning), .establishedTwice,
        .pauseLimitReached(.seconds(20)), .streamNotRead(evil, channel: name), .streamNotRead("events", channel: nil),
        .subscribed(name), .gap(name),
        .subscriptionFailed(name, error, isRepeated: false), .subscriptionFailed(name, error, isRepeated: true), .signedIn,
        .signInFailed(error, isRepeated: false), .signInFailed(error, isRepeated: true), .unknownEvent(name),
        .eventDropped(name, channel: name), .notTriggered(name, channel: name, error),
        .notTriggered(name, channel: name, PusherError(.tooManyClientEvents, message: evil)),
        .notDecrypted(name, channel: name, problem: evil), .staleAuthorization(name),
        .staleUserAuthorization, .subscribedUnasked(name), .signedInUnasked, .loaded(name, .seconds(1)),
        .notLoaded(name, problem: evil), .recovered(name, count: 7), .notRecovered(name, problem: evil), .received(evil),
        .sent(evil),
    ]

    /// A delivery of each kind that writes a line.
    private static let deliveries: [Delivery] = [
        .stateChanged(from: .connected, to: .reconnecting, because: error), .gap(channel: name, since: .origin),
        .subscribed(channel: name),
        .subscriptionFailed(
            channel: name, SubscriptionFailure(error: error, authorization: AuthorizationFailure(message: evil, body: evil))),
        .signedIn(userID: name),
    ]

    private typealias Written = (message: String, metadata: Logger.Metadata)

    private struct Handler: LogHandler {
        let lines: Locked<[Written]>
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            lines.withLock { $0.append(("\(event.message)", all)) }
        }
    }

    /// Returns the lines that a client logs for these outputs, and those that its delegate gets.
    private func written(_ outputs: [Output], level: Logger.Level = .trace) -> ([Written], [String]) {
        let lines = Locked<[Written]>([])
        let rig = ClientRig(auth: .inline(secret: Self.secret)) { options in
            options.logger = Logger(label: "test") { _ in Handler(lines: lines, logLevel: level) }
        }
        for output in outputs { rig.pusher.connection.core.change { $0.machine.outputs.append(output) } }
        // The end of the client would write another line.
        return withExtendedLifetime(rig) { (lines.withLock { $0 }, rig.recorder.log) }
    }

    @Test func `Every log line has a listed message and listed keys, stays on one line, and hides secrets`() {
        let effects = Self.samples.map { Output.log($0) } + Self.deliveries.map { .deliver($0) }
        let (lines, texts) = written(effects)
        for (line, text) in zip(lines, texts) { #expect(text == line.message || text.hasPrefix("\(line.message) ")) }
        #expect(lines.count == effects.count && texts.count == effects.count)
        #expect(Set(lines.map(\.message)) == Set(LogMessage.allCases.map(\.rawValue)))
        #expect(Set(lines.flatMap(\.metadata.keys)).isSubset(of: LogKey.allCases.map(\.rawValue)))
        for line in lines {
            #expect(line.metadata["key"] == "key" && line.metadata["host"] == "ws.pusherapp.com")
            #expect(line.metadata.values.allSatisfy { $0.description.utf8.count < 2_500 })
        }
        #expect(LogField(.error, Self.evil).quoted.isQuoted)
        for text in texts + lines.map({ "\($0)" }) {
            #expect(!text.contains(Self.secret) && text.unicodeScalars.allSatisfy(\.isForLogLines), "\(text)")
        }
    }

    @Test func `Lines below the logger's level aren't logged but still reach the delegate`() {
        let (lines, texts) = written(Self.samples.map { .log($0) }, level: .warning)
        #expect(lines.map(\.message) == Self.samples.filter { [.warning, .error].contains($0.level) }.map(\.message.rawValue))
        #expect(texts.count == Self.samples.count)
    }

    @Test(arguments: [
        (Duration.zero, "0.000s"), (.milliseconds(1), "0.001s"), (.milliseconds(1_350), "1.350s"), (.seconds(-1), "0.000s"),
        (.nanoseconds(59_999_999_999), "59.999s"), (.seconds(86_400), "86400.000s"),
    ])
    func `Durations in log lines are seconds with three decimals`(time: Duration, value: String) {
        #expect(LogField(.delay, time).value == value)
    }

    private static func rows(of section: String) throws -> [String] {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../../Sources/PusherChannels/PusherChannels.docc/ConnectionsInProduction.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.range(of: "\n\(section)\n"))
        let end = text.range(of: "\n#", range: start.upperBound..<text.endIndex)?.lowerBound ?? text.endIndex
        return text[start.upperBound..<end].split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
    }

    @Test func `The documentation page lists every log message with its levels and keys`() throws {
        let expected = LogMessage.allCases.map { message in
            let lines = Self.samples.filter { $0.message == message }
            let levels = [LogLevel.trace, .debug, .info, .warning, .error].filter(lines.map(\.level).contains)
            let used = Set(lines.flatMap(\.fields).map(\.key))
            let keys = LogKey.allCases.filter(used.contains).map { "`\($0.rawValue)`" }
            return
                "| `\(message.rawValue)` | \(levels.map { "\($0)" }.joined(separator: " or ")) | \(keys.joined(separator: ", ")) |"
        }
        #expect(try Self.rows(of: "### Messages") == expected)
    }

    @Test func `The documentation page explains every key of log lines`() throws {
        let keys = try Self.rows(of: "### Keys").map { $0.dropFirst(3).prefix { $0 != "`" } }
        #expect(keys.map(String.init) == LogKey.allCases.map(\.rawValue))
    }
}

extension String {
    /// Indicates whether the string is a single quotation without an unescaped quotation mark inside.
    fileprivate var isQuoted: Bool {
        guard count >= 2, hasPrefix("\""), hasSuffix("\"") else { return false }
        var isEscaped = false
        for character in dropFirst().dropLast() {
            if character == "\"", !isEscaped { return false }
            isEscaped = character == "\\" && !isEscaped
        }
        return !isEscaped
    }
}

@Suite struct MessageLinesTests {
    @Test func `At trace level alone, the log shows sent and received messages, without their signatures`() {
        let rig = ClientRig.connected { $0.logger.logLevel = .trace }
        rig.pusher.subscribe("presence-room")
        rig.socket.publish(channel: "presence-room", event: "news", data: "1")
        let messages = rig.recorder.log.filter { $0.hasPrefix("message") }.map { $0.replacing("\\\"", with: "'") }
        let expected = [
            "message received text=\"{'event':'pusher:connection_established'",
            "message sent text=\"{'event':'pusher:subscribe','data':{'channel':'presence-room','auth':'…','channel_data':'…'}}\"",
            "message received text=\"{'event':'pusher_internal:subscription_succeeded'",
            "message received text=\"{'event':'news'",
        ]
        #expect(messages.count == expected.count)
        for (message, beginning) in zip(messages, expected) { #expect(message.hasPrefix(beginning), "\(message)") }
        let other = ClientRig.connected()
        other.pusher.subscribe("room")
        #expect(!other.recorder.log.contains { $0.hasPrefix("message") })
    }

    @Test func `A logged sign-in message shows no user data`() throws {
        let rig = ClientRig.connected {
            $0.logger.logLevel = .trace
            $0.userAuthMethod = .inline(secret: "secret", userData: #"{"id":"ann","card":"4711"}"#)
        }
        rig.pusher.signIn { _ in }
        #expect(rig.recorder.log.contains { $0.contains("pusher:signin_success") })
        #expect(!rig.recorder.log.contains { $0.contains("4711") })
    }

    @Test(arguments: [
        #"{"event":"pusher:signin_success","data":{"auth":"k:4711","user_data":"{\"card\":\"4711\"}"}}"#,
        #"{"event":"pusher:signin_success","data":{"auth":"k:4711","user_data":"4711"}}"#,
        #"{"event":"pusher:signin_success","data":{"auth":"k:4711","user_data":"#,
        #"{"event":"pusher:signin\u005fsuccess","data":"{\"auth\":\"k:4711\",\"user_data\":7}"}"#,
    ])
    func `A sign-in message that makes no sense is logged without its contents`(message: String) {
        let rig = ClientRig.connected { $0.logger.logLevel = .trace }
        rig.socket.serverSends(message)
        let log = rig.recorder.log
        #expect(log.contains { $0.contains("bytes that make no sense, of a sign-in") }, "\(log)")
        #expect(!log.contains { $0.contains("4711") })
    }
}

@Suite struct LogLineTests {
    @Test(arguments: [
        ("", ""), ("room", "room"), ("caf\u{E9} 🙂", "caf\u{E9} 🙂"),
        ("one\ntwo\r", #"one\u{a}two\u{d}"#), ("\u{1B}[2J", #"\u{1b}[2J"#), ("a\u{0}b\u{7F}\u{85}", #"a\u{0}b\u{7f}\u{85}"#),
        ("a\u{2028}b", #"a\u{2028}b"#), ("\u{202E}evil\u{2066}", #"\u{202e}evil\u{2066}"#),
        ("a\u{200E}b\u{200F}c\u{61C}", #"a\u{200e}b\u{200f}c\u{61c}"#), ("a\u{200B}b\u{FEFF}", #"a\u{200b}b\u{feff}"#),
        ("a\u{AD}b\u{E0041}", #"a\u{ad}b\u{e0041}"#),
    ])
    func `Control, bidirectional, and invisible characters are escaped in log lines`(text: String, line: String) {
        #expect(text.inLogLine() == line)
    }

    @Test(arguments: [
        ("", #""""#), ("room", "room"), ("private-a,b;c=d@e.f", "private-a,b;c=d@e.f"), ("1.350s", "1.350s"), ("a b", #""a b""#),
        (#"say "no""#, #""say \"no\"""#), (#"a\b"#, #""a\\b""#), (#"\" channel=x"#, #""\\\" channel=x""#),
        ("caf\u{E9}", "\"caf\u{E9}\""),
        ("a\u{A0}b=c", "\"a\u{A0}b=c\""), ("one\ntwo", #""one\u{a}two""#), ("\u{7F}", #""\u{7f}""#),
    ])
    func `A log value is one plain word or stands in quotation marks`(text: String, value: String) {
        #expect(text.asLogValue() == value)
    }

    @Test func `A log value longer than its limit is truncated and quoted`() {
        let longest = String(repeating: "a", count: 200)
        #expect(longest.asLogValue() == longest)
        #expect((longest + "a").asLogValue() == "\"\(longest)…\"")
        #expect(String(repeating: "\"", count: 1 << 20).asLogValue(upTo: 2) == #""\"\"…""#)
    }

    @Test func `A text longer than its limit is truncated in log lines, counted in Unicode scalars`() {
        let longest = String(repeating: "a", count: 200)
        #expect(longest.inLogLine() == longest)
        #expect((longest + "a").inLogLine() == "\(longest)…")
        #expect(String(repeating: "\n", count: 2).inLogLine(upTo: 2) == #"\u{a}\u{a}"#)
        #expect(String(repeating: "\n", count: 1 << 20).inLogLine(upTo: 2) == #"\u{a}\u{a}…"#)
        let marks = "e" + String(repeating: "\u{301}", count: 1 << 20)
        #expect(marks.inLogLine().unicodeScalars.count == 201, "what is one character to Swift may be megabytes")
    }

    @Test func `An error's message is one line, with control characters escaped`() {
        let text = "no\n\u{1B}[31m" + String(repeating: "x", count: 1 << 20)
        for message in [PusherError(.server, message: text).message, TransportError(.unreachable, text).message] {
            #expect(message.hasPrefix(#"no\u{a}\u{1b}[31mxxx"#) && message.count < 1100)
        }
    }
}
