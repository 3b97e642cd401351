import Processes
import TestSupport
import Testing

@testable import PusherChannels

/// When an object that a closure holds is released, it may do anything, such as unbind other closures. So it must not be
/// released under a lock that those calls need.
@Suite struct LetGoClosureTests {
    typealias Owner = any AnyObject & Sendable

    /// A way to have a client release a closure.
    struct Way: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Gives the client a closure that holds the owner, and returns the closure's ID.
        let give: @Sendable (Pusher, Owner) -> String
        let takeAway: @Sendable (Pusher, String) -> Void

        init(
            _ name: String, _ give: @escaping @Sendable (Pusher, Owner) -> String,
            _ takeAway: @escaping @Sendable (Pusher, String) -> Void
        ) {
            (testDescription, self.give, self.takeAway) = (name, give, takeAway)
        }

        static func onRoom(_ name: String, _ takeAway: @escaping @Sendable (Pusher, String) -> Void) -> Way {
            Way(name, { $0.subscribe("room").bind(eventName: "e", eventCallback: holding($1)) }, takeAway)
        }
    }

    private static func holding<Value>(_ owner: Owner) -> @Sendable (Value) -> Void { { _ in _ = owner } }

    static let ways: [Way] = [
        .onRoom("unbind") { $0.subscribe("room").unbind(eventName: "e", callbackId: $1) },
        .onRoom("unbindAll of an event") { pusher, _ in pusher.subscribe("room").unbindAll(forEventName: "e") },
        .onRoom("unbindAll of a channel") { pusher, _ in pusher.subscribe("room").unbindAll() },
        .onRoom("unsubscribe") { pusher, _ in pusher.unsubscribe("room") },
        Way("unbind of all events", { $0.bind(eventCallback: holding($1)) }, { $0.unbind(callbackId: $1) }),
        Way("unbindAll of all events", { $0.bind(eventCallback: holding($1)) }, { pusher, _ in pusher.unbindAll() }),
        Way(
            "another callback", { $0.subscribe("presence-room", onMemberAdded: holding($1)).name },
            { pusher, _ in pusher.subscribe("presence-room", onMemberAdded: { _ in }) }),
        Way(
            "unbind of the user's events", { $0.user.bind(eventName: "e", eventCallback: holding($1)) },
            { $0.user.unbind(eventName: "e", callbackId: $1) }),
        Way(
            "unbindAll of the user's events", { $0.user.bind(eventName: "e", eventCallback: holding($1)) },
            { pusher, _ in pusher.user.unbindAll() }),
        Way(
            "another fetcher of the user's data",
            { pusher, owner in
                pusher.connection.userDataFetcher = {
                    withExtendedLifetime(owner) {}
                    return PusherPresenceChannelMember(userID: "me")
                }
                return ""
            }, { pusher, _ in pusher.connection.userDataFetcher = nil }),
        Way(
            "unbind of the watchlist", { $0.user.watchlist.bind(eventName: "online", callback: holding($1)) },
            { $0.user.watchlist.unbind(callbackId: $1) }),
    ]

    @Test(arguments: ways)
    func `An object released by removing a closure can call the client without a deadlock`(way: Way) throws {
        let pusher = ClientRig.connected().pusher
        let calls = Locked(0)
        var owner: AtItsEnd? = AtItsEnd { [weak pusher] in
            guard let pusher else { return }
            let room = pusher.subscribe("room")
            room.unbind(eventName: "e", callbackId: room.bind(eventName: "e") { _ in })
            pusher.unbind(callbackId: pusher.bind { _ in })
            pusher.connection.userDataFetcher = nil
            pusher.subscribe("presence-room", onMemberAdded: { _ in })
            pusher.unsubscribe("presence-room")
            pusher.user.unbind(eventName: "e", callbackId: pusher.user.bind(eventName: "e") { _ in })
            pusher.user.watchlist.unbind(callbackId: pusher.user.watchlist.bind(eventName: "online") { _ in })
            pusher.signIn { _ in }
            pusher.disconnect()
            calls.withLock { $0 += 1 }
        }
        let id = try way.give(pusher, #require(owner))
        owner = nil
        #expect(calls.withLock { $0 } == 0)
        try #require(isDone { way.takeAway(pusher, id) }, "it hangs")
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func `If releasing a replaced callback unsubscribes the channel, the channel stays unsubscribed`() {
        let pusher = ClientRig.connected().pusher
        do {
            let owner = AtItsEnd { [weak pusher] in pusher?.unsubscribe("presence-room") }
            pusher.subscribe("presence-room", onMemberAdded: { _ in withExtendedLifetime(owner) {} })
        }
        let room = pusher.subscribe("presence-room", onMemberAdded: { _ in })
        #expect(pusher.connection.channels.find(name: "presence-room") == nil)
        #expect(!room.subscribed, "a subscription that nobody hears")
    }
}
