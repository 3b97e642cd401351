/// A filter of the traffic that is written to a file or validated. A file's own entries are never filtered.
public protocol RequestFilter: Sendable {
    /// Returns whether an entry is included. May be called on any thread.
    func include(request: TrafficEntry) -> Bool
}
