import TestSupport

@testable import PusherChannels

extension PusherStream {
    /// Reads the stream to its end, and returns its elements with the error that it ended with, if there is one.
    func read() async -> (elements: [Element], error: PusherError?) {
        var elements: [Element] = []
        do {
            for try await element in self { elements.append(element) }
        } catch {
            return (elements, error)
        }
        return (elements, nil)
    }

    /// Returns the given number of elements, or fewer if the stream ends first; without a number all. Throws the stream's error.
    func elements(_ count: Int = .max) async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self {
            elements.append(element)
            if elements.count == count { break }
        }
        return elements
    }
}

extension PusherStream<ChannelUpdate> {
    /// Returns a word for each update up to the one that is `last`, or this many, or all. Each update is acted on meanwhile.
    func words(
        until last: String? = nil, count: Int = .max, _ act: (ChannelUpdate) async throws -> Void = { _ in }
    ) async throws -> [String] {
        var words: [String] = []
        for try await update in self {
            words.append(update.word)
            try await act(update)
            if words.last == last || words.count == count { break }
        }
        return words
    }
}

extension ChannelUpdate {
    var word: String {
        switch self {
        case .subscribed: "subscribed"
        case .event(let event): "\(event.eventName) \(event.data ?? "")"
        case .eventsMayBeMissing(let gap): "\(gap.reason)"
        case .memberAdded(let member): "+\(member.userID)"
        case .memberRemoved(let member): "-\(member.userID)"
        case .recovered(let count): "recovered \(count)"
        case .subscriptionCount(let count): "count \(count)"
        case .subscriptionFailed(let error): "failed \(error.code ?? 0)"
        }
    }
}

extension PusherStream<PusherEvent> {
    /// Returns the data of the given number of events, or of fewer if the stream ends first.
    func data(of count: Int) async throws -> [String?] {
        try await elements(count).map(\.data)
    }
}

extension TestExecutor {
    /// Starts a task that may throw, and returns it with a value that becomes true at its end.
    func watch(_ body: @escaping @Sendable () async throws -> Void) -> (task: Task<Void, any Error>, isOver: Locked<Bool>) {
        let isOver = Locked(false)
        let task: Task<Void, any Error> = spawn {
            try await body()
            isOver.withLock { $0 = true }
        }
        return (task, isOver)
    }
}
