/// Decides what of the traffic goes into a file or is validated. A file's own entries are never filtered.
public protocol RequestFilter: Sendable {
    /// Returns whether it goes in. May be called on any thread.
    func include(request: TrafficEntry) -> Bool
}
