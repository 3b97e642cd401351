/// A closure that the application bound to events.
struct Binding: Sendable {
    let id: String
    let callback: @Sendable (PusherEvent) -> Void
}

/// Closures by the name of the event they are bound to, in the order of binding.
struct Bindings: Sendable {
    private var byEvent: [Name: [Binding]] = [:]

    /// The number of them.
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
