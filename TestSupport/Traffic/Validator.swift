/// Decides whether traffic is what a file says.
public protocol Validator: Sendable {
    /// Throws where it is not, a ``TrafficMismatch`` or what you like; called on the thread that validates.
    ///
    /// - Parameters:
    ///   - recordedRequests: The traffic since the recorder was started: requests and frames, those that the filter lets through.
    ///   - localRequests: The entries of the file on this disk.
    func validate(recordedRequests: [TrafficEntry], localRequests: [TrafficEntry]) throws
}

extension Validator where Self == TrafficValidator {
    /// Demands that what the file says is in the traffic; fields that it leaves out don't matter. Each entry stands for one of the traffic,
    /// in any order.
    public static var subset: TrafficValidator { TrafficValidator(isExact: false, isOrdered: false) }

    /// Demands the same as ``subset``, and that objects have no members beside the file's. `method`, `headers` and `status` may still
    /// be left out, and header fields one by one.
    public static var exact: TrafficValidator { TrafficValidator(isExact: true, isOrdered: false) }
}
