import Foundation

/// The filters that come with the library. A text is one: what has it in its URL.
///
/// ```swift
/// try recorder.record(to: "sign-in.json", filter: .host("api.example.com") && !.path("/health") || .frames)
/// try recorder.validate(against: "analytics.json", filter: "https://analytics.example.com")
/// ```
public struct TrafficFilter: RequestFilter, ExpressibleByStringLiteral {
    private let isIncluded: @Sendable (TrafficEntry) -> Bool

    /// Lets through what `isIncluded` says, which may be called on any thread.
    public init(_ isIncluded: @escaping @Sendable (TrafficEntry) -> Bool) {
        self.isIncluded = isIncluded
    }

    /// Lets through what another filter does, one of your own.
    public init(_ filter: some RequestFilter) {
        self.init { filter.include(request: $0) }
    }

    /// Lets through what has this text in its URL, for a frame in that of its connection.
    public init(stringLiteral text: String) {
        self.init { $0.url.contains(text) }
    }

    /// Whether it goes in.
    public func include(request: TrafficEntry) -> Bool { isIncluded(request) }

    // MARK: Ready ones

    /// Lets everything through.
    public static let all = TrafficFilter { _ in true }

    /// HTTP requests.
    public static let requests = TrafficFilter { $0.kind == .request }

    /// WebSocket messages.
    public static let frames = TrafficFilter { $0.kind != .request }

    /// What goes to or comes from this host; capitals don't matter.
    public static func host(_ host: String) -> TrafficFilter {
        TrafficFilter { RecordedRequest(url: $0.url).host.lowercased() == host.lowercased() }
    }

    /// What has exactly this path, percent-encoded.
    public static func path(_ path: String) -> TrafficFilter {
        TrafficFilter { RecordedRequest(url: $0.url).path == path }
    }

    /// Requests with this method; capitals don't matter.
    public static func method(_ method: String) -> TrafficFilter {
        TrafficFilter { $0.method == method.uppercased() }
    }

    /// What both let through.
    public static func && (left: TrafficFilter, right: TrafficFilter) -> TrafficFilter {
        TrafficFilter { left.include(request: $0) && right.include(request: $0) }
    }

    /// What one of them lets through.
    public static func || (left: TrafficFilter, right: TrafficFilter) -> TrafficFilter {
        TrafficFilter { left.include(request: $0) || right.include(request: $0) }
    }

    /// What it doesn't let through.
    public static prefix func ! (filter: TrafficFilter) -> TrafficFilter {
        TrafficFilter { !filter.include(request: $0) }
    }
}
