/// A filter of recorded entries, made like the matchers of requests. A text is a filter, too: for entries that have it in their
/// URL.
///
/// ```swift
/// try recorder.record(to: "sign-in.json", filter: .host("api.example.com") && !.path("/health") || .frames)
/// try recorder.validate(against: "analytics.json", filter: "https://analytics.example.com")
/// ```
public typealias TrafficFilter = Matcher<TrafficEntry>

extension TrafficEntry: Matchable {
    /// Returns a filter for entries with the text in their URL; for a frame, in that of its connection.
    public static func matcher(_ text: String) -> TrafficFilter {
        TrafficFilter("\(text) in the URL") { $0.url.contains(text) }
    }
}

extension Matcher: RequestFilter where Subject == TrafficEntry {
    /// Creates a filter that includes the entries that a filter of your own does.
    public init(_ filter: some RequestFilter) {
        self.init("\(filter)") { filter.include(request: $0) }
    }

    /// Returns whether an entry is included.
    public func include(request: TrafficEntry) -> Bool { matches(request) }

    /// A filter for HTTP requests.
    public static var requests: TrafficFilter { TrafficFilter("requests") { $0.kind == .request } }

    /// A filter for WebSocket messages.
    public static var frames: TrafficFilter { TrafficFilter("frames") { $0.kind != .request } }

    /// Returns a filter for entries that go to or come from this host; case doesn't matter.
    public static func host(_ host: String) -> TrafficFilter {
        .address(.host(host))
    }

    /// Returns a filter for entries with exactly this path, without the query; `/users/{id}` names parts of it.
    public static func path(_ path: String) -> TrafficFilter {
        .address(.path(path))
    }

    /// Returns a filter for requests with this method; case doesn't matter.
    public static func method(_ method: String) -> TrafficFilter {
        .requests && .address(.method(method))
    }

    /// Returns a filter for entries whose method and URL match a matcher of requests.
    private static func address(_ matcher: RequestMatcher) -> TrafficFilter {
        TrafficFilter(matcher.description) { entry in
            matcher.outcome(of: RecordedRequest(method: entry.method ?? "GET", url: entry.url)).isMatch
        }
    }
}

/// A filter of the traffic that is written to a file or validated. A file's own entries are never filtered.
public protocol RequestFilter: Sendable {
    /// Returns whether an entry is included. May be called on any thread.
    func include(request: TrafficEntry) -> Bool
}
