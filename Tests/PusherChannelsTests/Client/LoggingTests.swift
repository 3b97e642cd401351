import PusherChannels
import TestSupport
import Testing

/// What a client writes to its log: whose line it is, and no secret.
@Suite struct LoggingTests {
    private let lines = Locked<[String]>([])

    private func rig(server: MockWebSocket.Server = .trusting, auth: AuthMethod = .inline(secret: "s3cr3t-value")) -> ClientRig {
        .connected(server: server, auth: auth) { options in
            options.logger = LineRecorder.logger(lines)
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

    /// A server's text begins no line, turns none round, colors nothing, and is cut: a log is read by people and programs.
    @Test func whatAServerSaysStaysWithinItsLine() {
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
            for scalar in ["\n", "\u{1B}", "\u{202E}"] as [Unicode.Scalar] { #expect(!line.unicodeScalars.contains(scalar)) }
        }
    }
}
