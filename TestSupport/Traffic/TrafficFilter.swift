/// Which entries of the traffic are meant: the matchers of requests, for what was recorded. A text is one: what has it in its URL.
///
/// ```swift
/// try recorder.record(to: "sign-in.json", filter: .host("api.example.com") && !.path("/health") || .frames)
/// try recorder.validate(against: "analytics.json", filter: "https://analytics.example.com")
/// ```
public typealias TrafficFilter = Matcher<TrafficEntry>

extension TrafficEntry: Matchable {
    /// Matches entries with the text in their URL, for a frame in that of its connection.
    public static func matcher(_ text: String) -> TrafficFilter {
        TrafficFilter("\(text) in the URL") { $0.url.contains(text) }
    }
}

extension Matcher: RequestFilter where Subject == TrafficEntry {
    /// Lets through what another filter does, one of your own.
    public init(_ filter: some RequestFilter) {
        self.init("\(filter)") { filter.include(request: $0) }
    }

    /// Returns whether it goes in.
    public func include(request: TrafficEntry) -> Bool { matches(request) }

    /// HTTP requests.
    public static var requests: TrafficFilter { TrafficFilter("requests") { $0.kind == .request } }

    /// WebSocket messages.
    public static var frames: TrafficFilter { TrafficFilter("frames") { $0.kind != .request } }

    /// Matches entries that go to or come from this host; capitals don't matter.
    public static func host(_ host: String) -> TrafficFilter {
        .address(.host(host))
    }

    /// Matches entries with exactly this path, without the query; `/users/{id}` names parts of it.
    public static func path(_ path: String) -> TrafficFilter {
        .address(.path(path))
    }

    /// Requests with this method; capitals don't matter.
    public static func method(_ method: String) -> TrafficFilter {
        .requests && .address(.method(method))
    }

    /// Entries whose method and URL a matcher of requests means.
    private static func address(_ matcher: RequestMatcher) -> TrafficFilter {
        TrafficFilter(matcher.description) { entry in
            matcher.outcome(of: RecordedRequest(method: entry.method ?? "GET", url: entry.url)).isMatch
        }
    }
}
