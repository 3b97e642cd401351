import PusherChannels

/// A socket that delivers the messages that it is given.
final class MemorySocket: WebSocket, Sendable {
    private struct State {
        weak var delegate: (any WebSocketDelegate)?
        var attempt = ConnectionAttempt(1)
    }

    private let state = Locked(State())

    var delegate: (any WebSocketDelegate)? {
        get { state.withLock { $0.delegate } }
        set { state.withLock { $0.delegate = newValue } }
    }

    func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {
        state.withLock { $0.attempt = attempt }
    }

    func hasOpened() {
        let state = state.withLock { $0 }
        state.delegate?.webSocketDidOpen(attempt: state.attempt)
    }

    func deliver(_ read: Read) {
        let state = state.withLock { $0 }
        state.delegate?.webSocketDidReceive(MessageBatch(read.messages), attempt: state.attempt)
    }

    /// Delivers one text message.
    func deliver(_ text: [UInt8]) {
        let state = state.withLock { $0 }
        MessageBatch.withText(text) { state.delegate?.webSocketDidReceive($0, attempt: state.attempt) }
    }

    func send(_ text: String) {}
    func close(code: UInt16, reason: String) {}
    func setReading(_ reading: Bool) {}
}

/// The messages of one read: texts whose bytes are contiguous. Their memory is never freed.
struct Read {
    let messages: UnsafeBufferPointer<(MessageBatch.Kind, UnsafeRawBufferPointer)>

    init(_ texts: [String]) {
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: texts.reduce(0) { $0 + $1.utf8.count })
        let messages = UnsafeMutableBufferPointer<(MessageBatch.Kind, UnsafeRawBufferPointer)>.allocate(capacity: texts.count)
        var end = 0
        for (index, text) in texts.enumerated() {
            let start = end
            end = bytes[start...].update(fromContentsOf: text.utf8)
            let text = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[start..<end])
            messages.initializeElement(at: index, to: (.text, text))
        }
        self.messages = UnsafeBufferPointer(messages)
    }
}

/// A scheduler whose clock stands still.
struct FrozenScheduler: Scheduler {
    private struct Nothing: ScheduledAction {
        func cancel() {}
    }

    let now = Instant.origin

    func schedule(at deadline: Instant, label: String, _ action: @escaping @Sendable () -> Void) -> any ScheduledAction {
        Nothing()
    }
}

/// An executor that runs tasks on the thread that calls ``run()``.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class HandExecutor: TaskExecutor {
    private let jobs = Locked<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs waiting jobs until there are none.
    func run() {
        var waiting: [UnownedJob] = []
        while true {
            // Swapped, as new lists would be a part of what is measured.
            jobs.withLock { swap(&$0, &waiting) }
            if waiting.isEmpty { return }
            for job in waiting { job.runSynchronously(on: asUnownedTaskExecutor()) }
            waiting.removeAll(keepingCapacity: true)
        }
    }
}
