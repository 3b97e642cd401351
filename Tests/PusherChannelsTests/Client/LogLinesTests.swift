import Foundation
import Logging
import TestSupport
import Testing

@testable import PusherChannels

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
        .error(error), .clientReleased, .shutDown, .undelivered(7),
        .leftOut(.error, count: 7, .warning),
        .establishedTwice,
        .pauseLimitReached(.seconds(20)),
        .streamNotRead(evil, channel: name), .streamNotRead("events", channel: nil),
        .subscribed(name), .gap(name),
        .subscriptionFailed(name, error, isRepeated: false), .subscriptionFailed(name, error, isRepeated: true), .signedIn,
        .signInFailed(error, isRepeated: false), .signInFailed(error, isRepeated: true), .unknownEvent(name),
        .eventDropped(name, channel: name), .notTriggered(name, channel: name, error),
        .notTriggered(name, channel: name, PusherError(.tooManyClientEvents, message: evil)),
        .notDecrypted(name, channel: name, problem: evil), .staleAuthorization(name),
        .staleUserAuthorization, .subscribedUnasked(name), .signedInUnasked, .loaded(name, .seconds(1)),
        .notLoaded(name, problem: evil), .received(evil), .sent(evil),
    ]

    /// A delivery of each kind that writes a line.
    private static let deliveries: [Delivery] = [
        .stateChanged(from: .connected, to: .reconnecting, because: error), .gap(channel: name, since: .origin),
        .subscribed(channel: name),
        .subscriptionFailed(
            channel: name, SubscriptionFailure(error: error, authorization: AuthorizationFailure(message: evil, body: evil))),
        .signedIn(userID: name),
    ]

    private struct Written: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: Logger.Metadata
    }

    private struct Handler: LogHandler {
        let lines: Locked<[Written]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            lines.withLock { $0.append(Written(level: event.level, message: "\(event.message)", metadata: all)) }
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

    @Test func everyLineIsOfTheList() {
        let effects = Self.samples.map { Output.log($0) } + Self.deliveries.map { .deliver($0) }
        let (lines, texts) = written(effects)
        for (line, text) in zip(lines, texts) { #expect(text == line.message || text.hasPrefix("\(line.message) ")) }
        #expect(lines.count == effects.count && texts.count == effects.count)
        #expect(Set(lines.map(\.message)) == Set(LogMessage.allCases.map(\.rawValue)))
        let keys = Set(lines.flatMap(\.metadata.keys))
        #expect(keys.isSubset(of: LogKey.allCases.map(\.rawValue)))
        for line in lines {
            #expect(line.metadata["key"] == "key" && line.metadata["host"] == "ws.pusherapp.com")
            for value in line.metadata.values.map(\.description) {
                #expect(value.utf8.count < 2_500)
            }
        }
        #expect(LogField(.error, Self.evil).quoted.isQuoted)
        for text in texts + lines.map({ "\($0)" }) {
            #expect(!text.contains(Self.secret))
            let isOneLine = text.unicodeScalars.allSatisfy { $0.isForLogLines }
            #expect(isOneLine, "\(text)")
        }
    }

    @Test func aLevelThatIsOffIsSilent() {
        let (lines, texts) = written(Self.samples.map { .log($0) }, level: .warning)
        #expect(lines.map(\.message) == Self.samples.filter { [.warning, .error].contains($0.level) }.map(\.message.rawValue))
        #expect(texts.count == Self.samples.count)
    }

    @Test(arguments: [
        (Duration.zero, "0.000s"), (.milliseconds(1), "0.001s"), (.milliseconds(1_350), "1.350s"), (.seconds(-1), "0.000s"),
        (.nanoseconds(59_999_999_999), "59.999s"), (.seconds(86_400), "86400.000s"),
    ])
    func timesAreSeconds(time: Duration, value: String) {
        #expect(LogField(.delay, time).value == value)
    }

    // MARK: Documentation page

    private static func rows(of section: String) throws -> [String] {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../../Sources/PusherChannels/PusherChannels.docc/ConnectionsInProduction.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.range(of: "\n\(section)\n"))
        let end = text.range(of: "\n#", range: start.upperBound..<text.endIndex)?.lowerBound ?? text.endIndex
        return text[start.upperBound..<end].split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
    }

    @Test func thePageListsAllMessages() throws {
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

    @Test func thePageExplainsAllKeys() throws {
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

/// Messages are logged only on request and without secrets.
@Suite struct MessageLinesTests {
    @Test func debugLogShowsMessagesIfAskedTo() {
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
    }

    @Test func debugLogShowsNoMessagesOtherwise() {
        let rig = ClientRig.connected()
        rig.pusher.subscribe("room")
        #expect(!rig.recorder.log.contains { $0.hasPrefix("message") })
    }

    @Test func theUserWhoIsSignedInIsNotShown() throws {
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
    func norIfWhatTheServerSaysOfItMakesNoSense(message: String) {
        let rig = ClientRig.connected { $0.logger.logLevel = .trace }
        rig.socket.serverSends(message)
        #expect(rig.recorder.log.contains { $0.contains("bytes that make no sense, of a sign-in") }, "\(rig.recorder.log)")
        #expect(!rig.recorder.log.contains { $0.contains("4711") })
    }
}

/// A server's texts in log lines.
@Suite struct LogLineTests {
    @Test(arguments: [
        ("", ""), ("room", "room"), ("caf\u{E9} 🙂", "caf\u{E9} 🙂"),
        ("one\ntwo\r", #"one\u{a}two\u{d}"#), ("\u{1B}[2J", #"\u{1b}[2J"#), ("a\u{0}b\u{7F}\u{85}", #"a\u{0}b\u{7f}\u{85}"#),
        ("a\u{2028}b", #"a\u{2028}b"#), ("\u{202E}evil\u{2066}", #"\u{202e}evil\u{2066}"#),
        ("a\u{200E}b\u{200F}c\u{61C}", #"a\u{200e}b\u{200f}c\u{61c}"#), ("a\u{200B}b\u{FEFF}", #"a\u{200b}b\u{feff}"#),
        ("a\u{AD}b\u{E0041}", #"a\u{ad}b\u{e0041}"#),
    ])
    func whatWouldBeginALineOrTurnItRoundIsEscaped(text: String, line: String) {
        #expect(text.inLogLine() == line)
    }

    @Test(arguments: [
        ("", #""""#), ("room", "room"), ("private-a,b;c=d@e.f", "private-a,b;c=d@e.f"), ("1.350s", "1.350s"), ("a b", #""a b""#),
        (#"say "no""#, #""say \"no\"""#), (#"a\b"#, #""a\\b""#), (#"\" channel=x"#, #""\\\" channel=x""#),
        ("caf\u{E9}", "\"caf\u{E9}\""),
        ("a\u{A0}b=c", "\"a\u{A0}b=c\""), ("one\ntwo", #""one\u{a}two""#), ("\u{7F}", #""\u{7f}""#),
    ])
    func aValueIsOnePlainWordOrInQuotationMarks(text: String, value: String) {
        #expect(text.asLogValue() == value)
    }

    @Test func aLongValueIsCut() {
        #expect(String(repeating: "a", count: 200).asLogValue() == String(repeating: "a", count: 200))
        #expect(String(repeating: "a", count: 201).asLogValue() == "\"" + String(repeating: "a", count: 200) + "…\"")
        #expect(String(repeating: "\"", count: 1 << 20).asLogValue(upTo: 2) == #""\"\"…""#)
    }

    @Test func aLongTextIsCut() {
        #expect(String(repeating: "a", count: 200).inLogLine() == String(repeating: "a", count: 200))
        #expect(String(repeating: "a", count: 201).inLogLine() == String(repeating: "a", count: 200) + "…")
        #expect(String(repeating: "\n", count: 2).inLogLine(upTo: 2) == #"\u{a}\u{a}"#)
        #expect(String(repeating: "\n", count: 1 << 20).inLogLine(upTo: 2) == #"\u{a}\u{a}…"#)
        let marks = "e" + String(repeating: "\u{301}", count: 1 << 20)
        #expect(marks.inLogLine().unicodeScalars.count == 201, "what is one character to Swift may be megabytes")
    }

    @Test func whatAnErrorSaysIsOneLine() {
        let text = "no\n\u{1B}[31m" + String(repeating: "x", count: 1 << 20)
        let messages = [PusherError(.server, message: text).message, TransportError(.unreachable, text).message]
        for message in messages {
            #expect(message.hasPrefix(#"no\u{a}\u{1b}[31mxxx"#))
            #expect(message.count < 1100)
        }
    }
}
