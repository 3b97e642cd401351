/// A closure that the application bound to events.
struct Binding: Sendable {
    let id: String
    let callback: @Sendable (PusherEvent) -> Void
}

/// The events that a closure is bound to.
enum BindingPlace {
    case everywhere(channelEventsOnly: Bool)
    case user(event: Name)
    case channel(Name, number: Int, event: Name)
}

/// Closures by the name of the event they are bound to, in the order of binding.
struct Bindings: Sendable {
    private var byEvent: [Name: [Binding]] = [:]

    /// The number of closures.
    private(set) var count = 0

    subscript(event: Name) -> [Binding] { byEvent[event] ?? [] }

    mutating func add(_ binding: Binding, to event: Name) {
        byEvent[event, default: []].append(binding)
        count += 1
    }

    mutating func remove(id: String, from event: Name) -> Binding? {
        guard let index = byEvent[event]?.firstIndex(where: { $0.id == id }) else { return nil }
        let removed = byEvent[event]?.remove(at: index)
        if byEvent[event]?.isEmpty == true { byEvent[event] = nil }
        count -= 1
        return removed
    }

    mutating func removeAll(of event: Name) -> [Binding] {
        let removed = byEvent.removeValue(forKey: event) ?? []
        count -= removed.count
        return removed
    }
}

/// Closures that are bound to the events of all channels, some of them also to events without a channel.
struct GlobalBindings: Sendable {
    /// The closures for a channel's event: all of them, in the order of binding.
    private var ofChannels: [Binding] = []
    /// The closures that hear every event.
    private var ofEverything: [Binding] = []

    mutating func add(_ binding: Binding, channelEventsOnly: Bool) {
        ofChannels.append(binding)
        if !channelEventsOnly { ofEverything.append(binding) }
    }

    mutating func remove(id: String) -> Binding? {
        ofEverything.removeAll { $0.id == id }
        return ofChannels.firstIndex { $0.id == id }.map { ofChannels.remove(at: $0) }
    }

    mutating func removeAll() -> [Binding] {
        defer { (ofChannels, ofEverything) = ([], []) }
        return ofChannels
    }

    func bindings(for envelope: Envelope) -> [Binding] {
        if ofChannels.isEmpty { return [] }
        return envelope.isChannelEvent ? ofChannels : ofEverything
    }
}

extension Envelope {
    private static let newsOfMembers: Set<Name> = ["pusher:member_added", "pusher:member_removed", "pusher:subscription_count"]

    /// Indicates whether PusherSwift treats it as a channel's event. It treats the protocol's messages about who is there
    /// differently.
    fileprivate var isChannelEvent: Bool {
        channel != nil && !(event.begins(with: "pusher:") && Self.newsOfMembers.contains(event))
    }
}
