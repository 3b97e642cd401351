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
