/// The streams of a client, behind a lock of their own.
///
/// It is taken after the client's lock and never before it. A reader that reports what it has read, or takes what waits, takes
/// this lock only; the client is told only if the server has to wait from then on, or no longer has to.
final class Readers: Sendable {
    private let streams: Locked<Streams>

    init(_ streams: Streams) {
        self.streams = Locked(streams)
    }

    /// Changes the streams. Whoever waits is resumed by the change of the client that this is a part of.
    func change<Result>(_ body: (inout Streams) -> Result) -> Result {
        streams.withLock(body)
    }

    /// Changes the streams for a reader, and resumes those that have something to read then. Also returns whether the server has
    /// to wait from now on, or no longer has to.
    func report<Result>(_ body: (inout Streams) -> Result) -> (result: Result, isCrossing: Bool) {
        let (result, isCrossing, wakeUps) = streams.withLock { streams in
            let wasOver = streams.over > 0
            let result = body(&streams)
            var wakeUps: [() -> Void] = []
            streams.takeWakeUps(into: &wakeUps)
            // not a mutant: a crossing too many only costs a look
            return (result, wasOver != (streams.over > 0), wakeUps)
        }
        for wakeUp in wakeUps { wakeUp() }
        return (result, isCrossing)
    }
}
