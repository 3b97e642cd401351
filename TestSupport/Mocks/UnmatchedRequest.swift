/// Nothing was stubbed for a request: the error it fails with.
public struct UnmatchedRequest: Error, Equatable, Sendable, CustomStringConvertible {
    /// The request.
    public let request: RecordedRequest
    /// What there were answers for.
    public let offered: [String]

    /// Names the request and what was on offer.
    public var description: String {
        let offer = offered.isEmpty ? "nothing is stubbed" : "stubbed are: \(offered.joined(separator: ", "))"
        return "no answer for \(request); \(offer)"
    }
}
