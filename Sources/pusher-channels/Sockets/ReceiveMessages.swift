import ArgumentParser
import Foundation
import PusherChannels

/// Counts messages, and prints what they cost since the socket opened.
struct ReceiveMessages: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "receive")

    @OptionGroup var options: SocketOptions

    @Option(help: "The number of messages to count; 0 to count until the end.")
    var messages: Int

    func run() async throws {
        let counter = MessageCounter(wanted: messages)
        let socket = DefaultTransport.makeWebSocket()
        socket.delegate = counter
        socket.open(options.request, attempt: ConnectionAttempt(1))
        await counter.end()
        let (count, usage, closure) = counter.result
        guard count >= messages, case .closed = closure else { throw Failure("\(count) messages, then \(closure)") }
        output(
            String(
                format: #"{"messages":%d,"seconds":%.3f,"cpu_seconds":%.6f}"#, count, usage.seconds, usage.cpuSeconds))
    }
}

/// Counts the messages of one socket.
private final class MessageCounter: WebSocketDelegate {
    private struct State {
        var messages = 0
        var bytes = 0
        var began = Usage()
        var usage = (seconds: 0.0, cpuSeconds: 0.0)
        var closure = WebSocketClosure.closed(code: 1005, reason: "")
    }

    private let wanted: Int
    private let state = Locked(State())
    private let closed = Tally()

    init(wanted: Int) {
        self.wanted = wanted
    }

    func end() async {
        await closed.reach(1)
    }

    var result: (Int, (seconds: Double, cpuSeconds: Double), WebSocketClosure) {
        state.withLock { ($0.messages, $0.usage, $0.closure) }
    }

    func webSocketDidOpen(attempt: ConnectionAttempt) {
        state.withLock { $0.began = Usage() }
    }

    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {
        let (before, after) = state.withLock { state in
            let before = state.messages
            messages.forEach { _, bytes in
                state.messages += 1
                state.bytes += bytes.count
            }
            return (before, state.messages)
        }
        if before < wanted, after >= wanted { state.withLock { $0.usage = Usage().since($0.began) } }
    }

    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {
        state.withLock { $0.closure = closure }
        closed.add()
    }
}
