import PusherChannels

/// Counts the reports of many for one that waits.
final class Tally: Sendable {
    private let number = Locked(0)
    private let changes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        // One change that nobody has seen yet is enough to make the reader look again.
        (changes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var count: Int { number.withLock { $0 } }

    func add() {
        number.withLock { $0 += 1 }
        continuation.yield()
    }

    /// Waits until the count has reached a number.
    func reach(_ wanted: Int) async {
        while count < wanted {
            for await _ in changes { break }
        }
    }
}
