/// The closures bound to the events of one channel, or of all of them. Safe to change from any thread, also from within a
/// closure it calls.
final class EventBindings: Sendable {
    typealias Callback = @Sendable (PusherEvent) -> Void

    private struct Binding {
        let id: String
        let callback: Callback
    }

    private struct State {
        var byEvent: [String: [Binding]] = [:]
        var ofEveryEvent: [Binding] = []
        var bindingsMade = 0

        mutating func makeBinding(_ callback: @escaping Callback) -> Binding {
            bindingsMade += 1
            return Binding(id: "binding-\(bindingsMade)", callback: callback)
        }
    }

    private let state = Locked(State())

    /// Binds to one event, or with nil to every event; gives the id to unbind it with.
    func bind(_ eventName: String?, _ callback: @escaping Callback) -> String {
        state.withLock { state in
            let binding = state.makeBinding(callback)
            if let eventName {
                state.byEvent[eventName, default: []].append(binding)
            } else {
                state.ofEveryEvent.append(binding)
            }
            return binding.id
        }
    }

    /// Takes one binding back: of one event, or with nil of those to every event.
    func unbind(_ eventName: String?, id: String) {
        state.letGo { state in
            if let eventName {
                state.byEvent[eventName]?.removeFirst { $0.id == id }
            } else {
                state.ofEveryEvent.removeFirst { $0.id == id }
            }
        }
    }

    func unbindAll(of eventName: String) {
        state.letGo { $0.byEvent.removeValue(forKey: eventName) }
    }

    func unbindAll() {
        state.letGo { state in
            defer { (state.byEvent, state.ofEveryEvent) = ([:], []) }
            return (state.byEvent, state.ofEveryEvent)
        }
    }

    /// Calls whoever is bound to the event at this moment, in the order of binding.
    func call(with event: PusherEvent) {
        let (named, all) = state.withLock { ($0.byEvent[event.eventName], $0.ofEveryEvent) }
        for binding in named ?? [] { binding.callback(event) }
        for binding in all { binding.callback(event) }
    }
}

extension Array {
    /// Takes out the first of them that is the right one.
    fileprivate mutating func removeFirst(where isRight: (Element) -> Bool) -> Element? {
        firstIndex(where: isRight).map { remove(at: $0) }
    }
}
