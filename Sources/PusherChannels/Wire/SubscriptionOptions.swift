/// How much of a channel's past a subscription begins with, on a Sockudo server that keeps a history.
public struct SubscriptionRewind: Equatable, Sendable {
    let json: JSONValue

    fileprivate var isEmpty: Bool { (json.integerValue ?? json["seconds"]?.integerValue ?? 0) < 1 }

    /// The latest events, up to this number. A server gives one page at most, by default 100 events.
    public static func events(_ count: Int) -> Self { Self(json: .integer(count)) }

    /// The events of a time up to now, in whole seconds, rounded up; at most ten years.
    ///
    /// > Warning: A server gives the *oldest* page of that time, by default 100 events. If there were more, those that follow are
    /// > missing before the first live event, and only `truncated_by_limit` in the data of `sockudo:rewind_complete` says so. Use
    /// > ``events(_:)`` unless you know that there are fewer.
    public static func time(_ duration: Duration) -> Self {
        let (seconds, rest) = min(duration, .seconds(315_360_000)).components
        return Self(json: ["seconds": .integer(Int(clamping: seconds) + (rest > 0 ? 1 : 0))])
    }
}

/// Which of a channel's events a Sockudo server sends to a subscription. With names and tags, both must hold.
public struct SubscriptionFilter: Equatable, Sendable {
    let events: [String]?
    let tags: Tags?

    /// Creates a filter of 1 to 50 events' names, of tags, or of both.
    public init(events: [String]? = nil, tags: Tags? = nil) {
        (self.events, self.tags) = (events, tags)
    }

    /// Events of these names, 1 to 50.
    public static func events(_ names: String...) -> Self { Self(events: names) }

    /// Events whose tags meet a condition.
    public static func tags(_ condition: Tags) -> Self { Self(tags: condition) }

    /// A condition on the tags that an event was published with. The server needs `tag_filtering.enabled`, which is off by default.
    public struct Tags: Equatable, Sendable {
        let json: JSONValue

        private init(_ operation: String, _ conditions: [Tags]) {
            json = ["op": .string(operation), "nodes": .array(conditions.map(\.json))]
        }

        private init(_ tag: String, _ comparison: String, _ operands: [Name: JSONValue]) {
            json = .object(operands.merging(["key": .string(tag), "cmp": .string(comparison)]) { $1 })
        }

        /// The tag is there with this value.
        public static func equal(_ tag: String, _ value: String) -> Tags { Tags(tag, "eq", ["val": .string(value)]) }
        /// The tag is there with one of these values.
        public static func isIn(_ tag: String, _ values: [String]) -> Tags {
            Tags(tag, "in", ["vals": .array(values.map { .string($0) })])
        }
        /// The tag is there.
        public static func exists(_ tag: String) -> Tags { Tags(tag, "ex", [:]) }
        /// All of the conditions hold.
        public static func all(_ conditions: Tags...) -> Tags { Tags("and", conditions) }
        /// At least one of the conditions holds.
        public static func any(_ conditions: Tags...) -> Tags { Tags("or", conditions) }
        /// The condition doesn't hold.
        public static func not(_ condition: Tags) -> Tags { Tags("not", [condition]) }
    }

    var json: JSONValue {
        // Servers read tags alone without the object around them.
        guard let events else { return tags?.json ?? [:] }
        return .object(["events": .array(events.map { .string($0) }), "tags": tags?.json].compactMapValues { $0 })
    }
}

/// What a subscription asks for besides the channel, in Sockudo's protocol. Few have any, so that it is a class.
package final class SubscriptionOptions: Equatable, Sendable {
    let rewind: SubscriptionRewind?
    let filter: SubscriptionFilter?

    /// Creates options; nil if there are none.
    init?(rewind: SubscriptionRewind? = nil, filter: SubscriptionFilter? = nil) {
        if rewind == nil, filter == nil { return nil }
        (self.rewind, self.filter) = (rewind, filter)
    }

    var withoutRewind: SubscriptionOptions? { SubscriptionOptions(filter: filter) }

    /// Returns why they can't be requested; nil if they can. A server that takes no names for all of them gets none.
    func problem(in protocol: PusherProtocol) -> String? {
        if `protocol` != .sockudo { return "rewind and filter need PusherClientOptions.protocol to be .sockudo" }
        if rewind?.isEmpty == true { return "a rewind needs at least one event, or a time above zero" }
        guard let count = filter?.events?.count, !(1...50).contains(count) else { return nil }
        return "a filter can name 1 to 50 events, this one names \(count)"
    }

    package static func == (left: SubscriptionOptions, right: SubscriptionOptions) -> Bool {
        (left.rewind, left.filter) == (right.rewind, right.filter)
    }

    /// The members of a request's data.
    var members: [(key: String, value: JSONValue?)] { [("rewind", rewind?.json), ("filter", filter?.json)] }
}
