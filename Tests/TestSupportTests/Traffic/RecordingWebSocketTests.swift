import TestSupport
import Testing

/// A recorded socket keeps the promises of ``WebSocket``.
struct RecordingWebSocketTests {
    private let rig = TrafficRig()
    private let socket = MockWebSocket(server: .manual)
    private let delegate = SocketRecorder()
    private let recording: RecordingWebSocket
    private let request = WebSocketRequest(secure: false, host: "a.example", port: 80, path: "/app/key")

    init() {
        recording = rig.recorder.recording(socket)
        recording.delegate = delegate
    }

    private func open() {
        recording.open(request, attempt: ConnectionAttempt(1))
        socket.accept()
    }

    private var events: [String] { rig.recorder.entries.map(\.description) }

    @Test func `A recorded socket passes on all reports, with one close for each open`() {
        open()
        socket.serverSends("a")
        socket.serverSendsControlFrame()
        MessageBatch.withText("late", age: .seconds(3)) {
            socket.delegate?.webSocketDidReceive($0, attempt: ConnectionAttempt(1))
        }
        recording.open(request, attempt: ConnectionAttempt(2))
        recording.close(code: 1000, reason: "")
        recording.open(request, attempt: ConnectionAttempt(3))
        socket.accept()
        socket.serverCloses(code: 4200, reason: "again")
        recording.close(code: 1000, reason: "")
        #expect(
            delegate.entries == [
                "#1 open", "#1 a", "#1 control", "#1 waited 3.0 seconds", "#1 late", "#1 failed cancelled", "#2 failed cancelled",
                "#3 open", "#3 closed 4200 again",
            ])
        #expect(socket.requests == [request, request, request])
    }

    @Test func `A frame that was not sent is not recorded, nor one sent while the socket is closing`() {
        recording.send("before")
        recording.open(request, attempt: ConnectionAttempt(1))
        recording.send("connecting")
        socket.accept()
        recording.send("open")
        recording.close(code: 1000, reason: "")
        recording.send("closed")
        #expect(events == [#"sent "open""#])
        #expect(socket.sentFrames == ["open"])
        let closing = rig.recorder.recording(BareSocket { $0?.webSocketDidOpen(attempt: $1) })
        closing.open(request, attempt: ConnectionAttempt(1))
        closing.send("again")
        closing.close(code: 1000, reason: "")
        closing.send("closing")
        #expect(events == [#"sent "open""#, #"sent "again""#])
    }

    @Test func `A recorded socket holds its delegate weakly and records without one`() {
        var delegate: SocketRecorder? = SocketRecorder()
        weak var observed: SocketRecorder?
        observed = delegate
        recording.delegate = delegate
        delegate = nil
        #expect(observed == nil)
        #expect(recording.delegate == nil)
        open()
        socket.serverSends("a")
        #expect(events == [#"received "a""#])
    }

    @Test func `A released recorded socket records nothing more and leaves no delegate`() {
        weak var observed: RecordingWebSocket?
        do {
            let recording = rig.recorder.recording(socket)
            observed = recording
            recording.open(request, attempt: ConnectionAttempt(1))
            socket.accept()
        }
        #expect(observed == nil)
        #expect(socket.delegate == nil)
        socket.serverSends("unheard")
        #expect(events.isEmpty)
    }

    @Test func `A batch of messages is passed on as one, and each message is recorded`() {
        final class Counting: WebSocketDelegate {
            let counts = Locked<[Int]>([])
            func webSocketDidOpen(attempt: ConnectionAttempt) {}
            func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {
                let count = messages.count
                counts.withLock { $0.append(count) }
            }
            func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {}
        }
        let delegate = Counting()
        let recording = rig.recorder.recording(
            BareSocket { delegate, attempt in
                delegate?.webSocketDidOpen(attempt: attempt)
                Array("onetwo".utf8).withUnsafeBytes { bytes in
                    let parts: [(MessageBatch.Kind, UnsafeRawBufferPointer)] = [
                        (.text, UnsafeRawBufferPointer(rebasing: bytes[..<3])),
                        (.binary, UnsafeRawBufferPointer(rebasing: bytes[3...])),
                    ]
                    parts.withUnsafeBufferPointer { delegate?.webSocketDidReceive(MessageBatch($0), attempt: attempt) }
                }
            })
        recording.delegate = delegate
        recording.open(request, attempt: ConnectionAttempt(1))
        #expect(delegate.counts.withLock { $0 } == [2])
        #expect(events == [#"received "one""#, #"received "<3 bytes>""#])
    }

    @Test func `A recorded socket stops reading at the socket behind it`() {
        open()
        recording.setReading(false)
        socket.serverSends("later")
        #expect(events.isEmpty)
        recording.setReading(true)
        #expect(events == [#"received "later""#])
    }

    @Test func `A frame sent within a report is recorded after the frame that caused it`() {
        delegate.onEntry { [recording] entry in if entry == "#1 ping" { recording.send("pong") } }
        open()
        socket.serverSends("ping")
        delegate.onEntry(nil)
        #expect(events == [#"received "ping""#, #"sent "pong""#])
    }

    @Test func `A frame sent while the recorder is stopped is not recorded`() {
        rig.recorder.stop()
        open()
        recording.send("unrecorded")
        rig.recorder.start()
        recording.send("recorded")
        #expect(events == [#"sent "recorded""#])
        #expect(socket.sentFrames == ["unrecorded", "recorded"])
    }
}

/// A socket that sends nothing, and whose server doesn't answer a close frame.
private final class BareSocket: WebSocket {
    private let held = Locked<(any WebSocketDelegate)?>(nil)
    private let onOpen: @Sendable ((any WebSocketDelegate)?, ConnectionAttempt) -> Void

    init(onOpen: @escaping @Sendable ((any WebSocketDelegate)?, ConnectionAttempt) -> Void) {
        self.onOpen = onOpen
    }

    var delegate: (any WebSocketDelegate)? {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }
    func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) { onOpen(delegate, attempt) }
    func send(_ text: String) {}
    func close(code: UInt16, reason: String) {}
    func setReading(_ reading: Bool) {}
}
