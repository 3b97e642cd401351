import PusherChannels

/// The validators that come with the library: ``Validator/subset`` and ``Validator/exact``, in any order or not.
public struct TrafficValidator: Validator {
    let isExact: Bool
    let isOrdered: Bool

    /// Returns this validator, for entries in the file's order.
    public var ordered: TrafficValidator { TrafficValidator(isExact: isExact, isOrdered: true) }

    /// - Throws: ``TrafficMismatch`` if the traffic is not what the file says.
    public func validate(recordedRequests: [TrafficEntry], localRequests: [TrafficEntry]) throws {
        let differences = Differences(
            file: localRequests, traffic: recordedRequests, comparison: Comparison(isExact: isExact, patterns: Patterns())
        ).find(inOrder: isOrdered)
        if !differences.isEmpty { throw TrafficMismatch(differences) }
    }
}

/// A validator that decides whether traffic is what a file says.
public protocol Validator: Sendable {
    /// Throws if the traffic is not what the file says: a ``TrafficMismatch`` or any other error. Called on the thread that
    /// validates.
    ///
    /// - Parameters:
    ///   - recordedRequests: The traffic since the recorder was started: the requests and frames that the filter includes.
    ///   - localRequests: The entries of the file on this disk.
    func validate(recordedRequests: [TrafficEntry], localRequests: [TrafficEntry]) throws
}

extension Validator where Self == TrafficValidator {
    /// A validator that requires the traffic to have the file's entries, as many and in any order. Members of objects that the
    /// file leaves out don't matter; an array has as many elements as the file's, and an entry that the file doesn't have is one
    /// too many. To leave entries out, validate with a filter.
    public static var subset: TrafficValidator { TrafficValidator(isExact: false, isOrdered: false) }

    /// A validator that requires the same as ``subset``, and that objects have no members besides the file's. `method`, `headers`
    /// and `status` may still be left out, and so may single header fields.
    public static var exact: TrafficValidator { TrafficValidator(isExact: true, isOrdered: false) }
}
