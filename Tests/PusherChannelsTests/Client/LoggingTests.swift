import Processes
import PusherChannels
import TestSupport
import Testing

/// The lines that a client writes to its log: each identifies the client, and none contains a secret.
@Suite struct LoggingTests {
    private let lines = Locked<[String]>([])

    private func rig(
        server: MockWebSocket.Server = .trusting, auth: AuthMethod = .inline(secret: "s3cr3t-value"),
        _ change: (inout PusherClientOptions) -> Void = { _ in }
    ) -> ClientRig {
        .connected(server: server, auth: auth) { options in
            options.logger = LineRecorder.logger(lines)
            change(&options)
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

    @Test func aLineSaysWhenTheNextAttemptIsMade() {
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

    @Test func aFailedAttemptIsOneLineAndAFailedChannelOneForEachReason() throws {
        let rig = rig(auth: .endpoint(authEndpoint: "http://auth.example/"))
        rig.session.stub("POST /", .http(500), .http(500), .http(503))
        rig.pusher.subscribe("private-room")
        rig.scheduler.advance(by: .seconds(10))
        try rig.socket.inject(.refused)
        rig.socket.drop()
        rig.scheduler.advance(by: .seconds(30))
        let warnings = lines.withLock { $0 }.filter { $0.hasPrefix("warning") }
        #expect(warnings.filter { $0.hasSuffix("not subscribed") }.count == 2)
        let failed = warnings.filter { $0.hasSuffix("reconnecting") }.map { $0.prefix("warning [attempt=1".count) }
        #expect(failed.count > 1 && Set(failed).count == failed.count && warnings.count == failed.count + 2, "\(warnings)")
    }

    @Test func aLineSaysWhenTheNextTryAtAChannelIsMade() throws {
        let rig = rig(auth: .endpoint(authEndpoint: "http://auth.example/"))
        rig.session.stub("POST /", StubResponse(status: 429, headers: ["Retry-After": "7"]), .http(403))
        rig.pusher.subscribe("private-room")
        #expect(
            rig.recorder.log.last?.hasSuffix("kind=authorization code=429 attempt=1 socket_id=46123.486095 delay=7.000s") == true)
        rig.scheduler.advance(by: .seconds(7))
        #expect(rig.recorder.log.last?.hasSuffix("kind=authorization code=403 attempt=1 socket_id=46123.486095") == true)
    }

    /// The host isn't a host alone, but an address with credentials and a query.
    @Test(arguments: ["ann:s3cr3t@example.com", "https://ann:s3cr3t@example.com/?token=s3cr3t", "example.com?token=s3cr3t"])
    func theHostIsSaidWithoutWhatIsSecret(host: String) {
        let rig = rig(auth: .noMethod) { $0.host = .host(host) }
        rig.pusher.disconnect()
        let written = lines.withLock { $0 }
        #expect(!written.isEmpty)
        for line in written { #expect(line.contains("example.com") && !line.contains("s3cr3t")) }
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

    /// A server's text can't begin, reverse or color a line and is truncated, because people and programs read the log.
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
