import PusherChannels
import TestSupport
import Testing

struct MockWebSocketTests {
    private let request = WebSocketRequest(
        secure: true, host: "ws-eu.pusher.com", port: 443, path: "/app/any-key?protocol=7&client=test&version=1.0")
    private let recorder = SocketRecorder()

    private func makeSocket(
        _ server: MockWebSocket.Server = .trusting, scheduler: any Scheduler = LiveScheduler()
    ) -> MockWebSocket {
        let socket = MockWebSocket(server: server, scheduler: scheduler)
        socket.delegate = recorder
        return socket
    }

    /// Returns a socket whose first connection is open.
    private func openSocket(
        _ server: MockWebSocket.Server = .manual, scheduler: any Scheduler = LiveScheduler()
    ) -> MockWebSocket {
        let socket = makeSocket(server, scheduler: scheduler)
        socket.open(request, attempt: ConnectionAttempt(1))
        if !socket.isOpen { socket.accept() }
        return socket
    }

    private let established =
        #"{"event":"pusher:connection_established","data":"{\"activity_timeout\":120,\"socket_id\":\"46123.486095\"}"}"#
    private let ping = #"{"event":"pusher:ping","data":{}}"#
    private let pong = #"{"event":"pusher:pong","data":{}}"#

    @Test func `A message over the size limit ends the connection as a protocol violation`() {
        let socket = makeSocket(.manual)
        var request = request
        request.maximumMessageSize = 5
        socket.open(request, attempt: ConnectionAttempt(1))
        socket.accept()
        for text in ["12345", "éa\u{20AC}"] { socket.serverSends(text) }
        #expect(recorder.entries == ["#1 open", "#1 12345", "#1 failed protocolViolation"])
        #expect(!socket.isOpen)
    }

    @Test func `A mock socket that trusts all signatures lists the user as a member at once`() {
        let socket = openSocket(.trusting)
        socket.send(ServerRig.subscription(to: "private-test-channel", auth: "testKey123:12345678gfder78ikjbg"))
        #expect(recorder.entries.last?.contains("subscription_succeeded") == true)
        let user = #"{"user_id":"46123.486095"}"#
        socket.send(ServerRig.subscription(to: "presence-channel", auth: "key:nonsense", channelData: user))
        #expect(recorder.entries.last?.contains(#"\"ids\":[\"46123.486095\"]"#) == true)
        #expect(socket.frames.map(\.event) == ["pusher:subscribe", "pusher:subscribe"])
        #expect(socket.frames.last?.channel == "presence-channel")
        #expect(socket.frames.last?.dataString("auth") == "key:nonsense")
    }

    @Test func `A checking socket refuses a wrong signature and accepts the right one`() throws {
        let socket = openSocket(.checking(secret: "secret"))
        socket.send(ServerRig.subscription(to: "private-a", auth: "any-key:00"))
        #expect(recorder.entries.last?.contains(#""status":401"#) == true)
        let auth = try Signature.channel("private-a", socketID: "46123.486095", key: "any-key", secret: "secret")
        socket.send(ServerRig.subscription(to: "private-a", auth: auth))
        #expect(recorder.entries.last?.contains("subscription_succeeded") == true)
    }

    @Test func `A delegate that sends, closes, and reopens within a report hears everything in order before open returns`() {
        let socket = makeSocket()
        let (request, ping) = (request, ping)
        recorder.onEntry { [unowned socket] entry in
            switch entry {
            case "#1 open":
                socket.send(ping)
                socket.send(ping)
            case _ where entry.hasPrefix("#1 {\"event\":\"pusher:connection_established\""):
                socket.close(code: 1000, reason: "done")
                socket.send("lost")
            case _ where entry.hasPrefix("#1 closed"):
                socket.open(request, attempt: ConnectionAttempt(2))
            default: break
            }
        }
        socket.open(request, attempt: ConnectionAttempt(1))
        #expect(recorder.entries.count == 7)
        #expect(
            recorder.entries.prefix(6) == [
                "#1 open", "#1 \(established)", "#1 \(pong)", "#1 \(pong)", "#1 closed 1000 done", "#2 open",
            ])
        #expect(socket.isOpen && socket.currentAttempt == ConnectionAttempt(2))
        #expect(socket.requests == [request, request])
        #expect(recorder.entries.last?.contains("46123.486095") == false, "a socket id is never given twice")
        #expect(socket.unsentFrames.map(\.text) == ["lost"])
        #expect(socket.sentFrames == [ping, ping])
    }

    /// Another thread may send while the client is being notified of the close, which that thread can't know about yet.
    @Test func `A frame sent while a close is being reported is no finding, but a later one is`() {
        let socket = openSocket()
        recorder.onEntry { [unowned socket] entry in if entry.contains("closed") { socket.send("late") } }
        socket.serverCloses(code: 1000, reason: "")
        #expect(socket.unsentFrames.map(\.text) == ["late"] && socket.findings.isEmpty)
        socket.send("too late")
        #expect(socket.findings.map(\.kind) == [.unheard])
    }

    @Test func `An unknown key of a server with registered apps is closed once, with 4001`() {
        let socket = makeSocket(.machine(ServerMachine(apps: [.local])))
        socket.open(request, attempt: ConnectionAttempt(1))
        #expect(recorder.entries.count == 3)
        #expect(recorder.entries.last?.hasPrefix("#1 closed 4001") == true)
        socket.close(code: 1000, reason: "")
        #expect(socket.drop() == false)
        #expect(recorder.entries.count == 3)
    }

    @Test func `Opening a socket again reports the end of the earlier attempt exactly once`() {
        let socket = makeSocket(.manual)
        socket.open(request, attempt: ConnectionAttempt(1))
        socket.open(request, attempt: ConnectionAttempt(2))
        socket.accept()
        socket.open(request, attempt: ConnectionAttempt(3))
        socket.refuse(.connectionRefused)
        #expect(recorder.entries == ["#1 failed cancelled", "#2 open", "#2 failed cancelled", "#3 failed connectionRefused"])
        #expect(socket.requests.count == 3)
    }

    @Test func `A manual socket reports only what the test sends`() {
        let socket = MockWebSocket(autoReply: false)
        socket.delegate = recorder
        #expect(socket.accept() == false)
        socket.open(request, attempt: ConnectionAttempt(1))
        #expect(recorder.entries.isEmpty)
        #expect(socket.serverSends("too early") == false)
        #expect(socket.serverCloses(code: 4200) == false)
        socket.accept()
        socket.serverEstablishes(activityTimeout: nil)
        socket.send(ping)
        socket.serverSendsEvent("e", channel: "c", data: #"{"a":1}"#, userID: "u")
        socket.publish(channel: "c", event: "f", data: "1")
        socket.serverSendsControlFrame()
        socket.serverCloses(code: 4200, reason: "again")
        #expect(
            recorder.entries == [
                "#1 open", #"#1 {"event":"pusher:connection_established","data":"{\"socket_id\":\"46123.486095\"}"}"#,
                #"#1 {"event":"e","channel":"c","data":"{\"a\":1}","user_id":"u"}"#,
                #"#1 {"event":"f","channel":"c","data":"1"}"#, "#1 control", "#1 closed 4200 again",
            ])
        #expect(!socket.isOpen)
    }

    @Test func `A dropped connection fails without a close frame and leaves its channels`() {
        let socket = openSocket(.trusting)
        socket.send(ServerRig.subscription(to: "room"))
        socket.drop()
        #expect(recorder.entries.last == "#1 failed connectionLost")
        #expect(socket.notices.last == .disconnected(.init(1)))
        socket.open(request, attempt: ConnectionAttempt(2))
        socket.publish(channel: "room", event: "e", data: "1")
        #expect(recorder.entries.last?.contains("connection_established") == true)
    }

    @Test func `A socket that stopped reading delivers all messages in order when reading resumes`() {
        let socket = openSocket()
        socket.setReading(false)
        for number in 1...3 { socket.serverSends("\(number)") }
        socket.serverCloses(code: 1000)
        #expect(recorder.entries == ["#1 open"])
        socket.setReading(true)
        #expect(recorder.entries == ["#1 open", "#1 1", "#1 2", "#1 3", "#1 closed 1000 "])
    }

    @Test func `The cost of unread messages grows linearly with their number`() {
        func time(_ count: Int) -> Duration {
            let socket = openSocket()
            socket.setReading(false)
            return ContinuousClock().measure { for _ in 0..<count { socket.serverSends("unread") } }
        }
        // Four times as many used to take sixteen times as long. Another program may interrupt a measurement, so one good one of
        // five is enough.
        #expect((1...5).contains { _ in time(16_000) < time(4_000) * 8 })
    }

    @Test func `Closing a socket that stopped reading reports the close and no unread message`() {
        let socket = openSocket()
        socket.setReading(false)
        socket.serverSends("unread")
        socket.close(code: 1000, reason: "bye")
        #expect(recorder.entries == ["#1 open", "#1 closed 1000 bye"])
        socket.open(request, attempt: ConnectionAttempt(2))
        socket.accept()
        socket.setReading(false)
        socket.serverSends("unread")
        socket.serverCloses(code: 4100)
        socket.close(code: 1000, reason: "bye")
        #expect(recorder.entries.dropFirst(2) == ["#2 open", "#2 closed 4100 "])
    }

    @Test(arguments: [999, 1_000]) func `A socket that was sent many frames opens again at the same time`(count: Int) {
        let socket = openSocket(.trusting, scheduler: TestScheduler())
        for _ in 0..<count { socket.send(ping) }
        socket.open(request, attempt: ConnectionAttempt(2))
        #expect(socket.isOpen)
        socket.close(code: 1000, reason: "done")
        #expect(socket.findings.isEmpty)
    }

    @Test func `A client that opens again and again is found even if it sends frames in between`() {
        let socket = openSocket(.trusting, scheduler: TestScheduler())
        for number in 2...1_001 {
            socket.send(ping)
            socket.open(request, attempt: ConnectionAttempt(number))
        }
        #expect(socket.findings.contains { $0.text.contains("is opened for the 1001th time") })
    }

    @Test func `A mock socket holds its delegate weakly`() {
        let socket = MockWebSocket()
        do {
            let delegate = SocketRecorder()
            socket.delegate = delegate
            #expect(socket.delegate != nil)
        }
        #expect(socket.delegate == nil)
        socket.open(request, attempt: ConnectionAttempt(1))
        #expect(socket.isOpen)
    }
}
