import Processes
import PusherChannels
import TestSupport
import Testing

/// When an object that a closure holds is released, it may do anything, such as unbind other closures. So it must not be
/// released under a lock that those calls need.
@Suite struct LetGoClosureTests {
    /// Gives the client a closure that holds the owner, and returns an action that makes the client release the closure.
    typealias Leave = @Sendable (Pusher, any AnyObject & Sendable) -> @Sendable () -> Void

    private static let ways: [(String, Leave)] = [
        (
            "unbind",
            { pusher, owner in
                let id = pusher.subscribe("room").bind(eventName: "e") { _ in _ = owner }
                return { pusher.subscribe("room").unbind(eventName: "e", callbackId: id) }
            }
        ),
        (
            "unbindAll of an event",
            { pusher, owner in
                pusher.subscribe("room").bind(eventName: "e") { _ in _ = owner }
                return { pusher.subscribe("room").unbindAll(forEventName: "e") }
            }
        ),
        (
            "unbindAll of a channel",
            { pusher, owner in
                pusher.subscribe("room").bind(eventName: "e") { _ in _ = owner }
                return { pusher.subscribe("room").unbindAll() }
            }
        ),
        (
            "unbind of all events",
            { pusher, owner in
                let id = pusher.bind { _ in _ = owner }
                return { pusher.unbind(callbackId: id) }
            }
        ),
        (
            "unbindAll of all events",
            { pusher, owner in
                pusher.bind { _ in _ = owner }
                return { pusher.unbindAll() }
            }
        ),
        (
            "unsubscribe",
            { pusher, owner in
                pusher.subscribe("room").bind(eventName: "e") { _ in _ = owner }
                return { pusher.unsubscribe("room") }
            }
        ),
        (
            "another callback",
            { pusher, owner in
                pusher.subscribe("presence-room", onMemberAdded: { _ in _ = owner })
                return { pusher.subscribe("presence-room", onMemberAdded: { _ in }) }
            }
        ),
        (
            "unbind of the user's events",
            { pusher, owner in
                let id = pusher.user.bind(eventName: "e") { _ in _ = owner }
                return { pusher.user.unbind(eventName: "e", callbackId: id) }
            }
        ),
        (
            "unbindAll of the user's events",
            { pusher, owner in
                pusher.user.bind(eventName: "e") { _ in _ = owner }
                return { pusher.user.unbindAll() }
            }
        ),
        (
            "another fetcher of the user's data",
            { pusher, owner in
                pusher.connection.userDataFetcher = {
                    withExtendedLifetime(owner) {}
                    return PusherPresenceChannelMember(userId: "me")
                }
                return { pusher.connection.userDataFetcher = nil }
            }
        ),
        (
            "unbind of the watchlist",
            { pusher, owner in
                let id = pusher.user.watchlist.bind(eventName: "online") { _ in _ = owner }
                return { pusher.user.watchlist.unbind(callbackId: id) }
            }
        ),
    ]

    @Test(arguments: ways.map(\.0)) func whatIsLetGoOfMayCallTheClient(way: String) throws {
        let leave = try #require(Self.ways.first { $0.0 == way }?.1)
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
        let letGo = try leave(pusher, #require(owner))
        owner = nil
        #expect(calls.withLock { $0 } == 0)
        try #require(isDone { letGo() }, "it hangs")
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func aChannelThatAReplacedCallbackGivesUpAtItsEndIsGivenUp() {
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
