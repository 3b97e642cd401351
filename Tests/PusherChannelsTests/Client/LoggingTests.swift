import Logging
import PusherChannels
import TestSupport
import Testing

/// What a client writes to its log: whose line it is, and no secret.
@Suite struct LoggingTests {
    private struct Handler: LogHandler {
        let lines: Locked<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
            let text = all.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            lines.withLock { $0.append("\(event.level) [\(text)] \(event.message)") }
        }
    }

    private let lines = Locked<[String]>([])

    private func rig(server: MockWebSocket.Server = .trusting, auth: AuthMethod = .inline(secret: "s3cr3t-value")) -> ClientRig {
        .connected(server: server, auth: auth) { options in
            options.logger = Logger(label: "test") { _ in Handler(lines: lines) }
        }
    }

    @Test func aClientThatIsLetGoOfSaysSo() {
        _ = rig()
        #expect(lines.withLock { $0.contains { $0.hasPrefix("info [") && $0.contains("nothing refers to the client any more") } })
    }

    @Test func everyLineSaysWhoseItIs() {
        let rig = rig(auth: .noMethod)
        rig.pusher.subscribe("private-room")
        rig.pusher.disconnect()
        let written = lines.withLock { $0 }
        #expect(written.contains("debug [key=key] connecting"))
        #expect(written.contains("debug [key=key socket_id=46123.486095] connected"))
        #expect(
            written.contains {
                $0.hasPrefix("warning [channel=private-room key=key socket_id=46123.486095] not subscribed: private-room needs")
            })
        #expect(written.contains("debug [key=key socket_id=46123.486095] disconnected"))
    }

    @Test func noLineHoldsASecret() {
        let rig = rig(server: .checking(secret: "another"))
        for channel in ["private-room", "presence-room", "private-encrypted-room"] { rig.pusher.subscribe(channel) }
        rig.pusher.connection.socket.close(code: 4200, reason: "")
        #expect(lines.withLock { $0.count } > 3)
        let signatures = rig.socket.frames.compactMap { $0.dataString("auth") }
        #expect(!signatures.isEmpty)
        for line in lines.withLock({ $0 }) + rig.recorder.log {
            for secret in signatures + ["s3cr3t-value"] { #expect(!line.contains(secret)) }
        }
    }
}
