import ArgumentParser
import PusherChannels

/// Opens one socket, then many more. Prints the state of the process before and after that, and, when its input ends, after they
/// were closed.
struct HoldSockets: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "hold")

    @OptionGroup var options: SocketOptions

    @Option(help: "How many sockets to open.")
    var count: Int

    @Option(help: "How many of them at a time.")
    var atOnce = Int.max

    func run() async throws {
        let tally = SocketTally()
        var sockets = await open(1, tally)
        await ProcessState.settled().report("before")
        let clock = ContinuousClock()
        let start = clock.now
        sockets += await open(count, tally)
        ProcessState().report("open", after: clock.now - start, failed: tally.failed.count)
        await endOfInput()
        let end = clock.now
        for socket in sockets { socket.close() }
        await tally.closed.reach(sockets.count)
        sockets = []
        let time = clock.now - end
        await ProcessState.settled().report("closed", after: time, failed: tally.failed.count)
    }

    private func open(_ count: Int, _ tally: SocketTally) async -> [HeldSocket] {
        let before = tally.opened.count
        var sockets: [HeldSocket] = []
        sockets.reserveCapacity(count)
        while sockets.count < count {
            // A failed socket makes room too: a place is free once its socket has opened or failed.
            if sockets.count >= atOnce { await tally.opened.reach(before + sockets.count - atOnce + 1) }
            sockets.append(HeldSocket(options.request, tally))
        }
        await tally.opened.reach(before + count)
        return sockets
    }
}

/// Counts the outcomes of the sockets.
private final class SocketTally: Sendable {
    /// The sockets that opened or failed to.
    let opened = Tally()
    let failed = Tally()
    let closed = Tally()
}

/// A socket and its delegate.
private final class HeldSocket: WebSocketDelegate {
    private let socket = DefaultTransport.makeWebSocket()
    private let isOpen = Locked(false)
    private let tally: SocketTally

    init(_ request: WebSocketRequest, _ tally: SocketTally) {
        self.tally = tally
        socket.delegate = self
        socket.open(request, attempt: ConnectionAttempt(1))
    }

    func close() {
        socket.close(code: 1000, reason: "")
    }

    func webSocketDidOpen(attempt: ConnectionAttempt) {
        isOpen.withLock { $0 = true }
        tally.opened.add()
    }

    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {}

    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {
        if case .failed(let failure) = closure {
            if tally.failed.count == 0 { note("\(failure)") }
            tally.failed.add()
            if !isOpen.withLock({ $0 }) { tally.opened.add() }
        }
        tally.closed.add()
    }
}
