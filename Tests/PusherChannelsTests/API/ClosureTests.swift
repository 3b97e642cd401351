import Processes
import TestSupport
import Testing

@testable import PusherChannels

/// The events that the client's closures receive, and their contents, as programs written for PusherSwift expect them.
@Suite struct GlobalClosureTests {
    private let heard = Locked<[String]>([])

    private func hear(_ who: String) -> @Sendable (PusherEvent) -> Void {
        { [heard] event in heard.withLock { $0.append("\(who): \(event.eventName)") } }
    }

    private var calls: [String] { heard.withLock { $0 } }

    private static let memberAdded =
        #"{"event":"pusher_internal:member_added","channel":"presence-room","data":{"user_id":"bob"}}"#
    private static let count =
        #"{"event":"pusher_internal:subscription_count","channel":"presence-room","data":{"subscription_count":2}}"#

    private func playEverything(to rig: ClientRig) {
        rig.pusher.subscribe("presence-room")
        rig.pusher.connect()
        for text in [Self.memberAdded, Self.count, #"{"event":"pusher:error","data":{"message":"no","code":4301}}"#] {
            rig.socket.serverSends(text)
        }
        rig.socket.publish(channel: "presence-room", event: "news", data: "1")
    }

    @Test func `A client's bindings receive channels' own events, global ones all, also joins, counts, and the connection's`() {
        let rig = ClientRig()
        rig.pusher.bind { [heard] event in heard.withLock { $0.append("\(event.channelName ?? "none"): \(event.eventName)") } }
        rig.pusher.bindGlobal(eventCallback: hear("all"))
        playEverything(to: rig)
        #expect(
            calls == [
                "all: pusher:connection_established", "presence-room: pusher:subscription_succeeded",
                "all: pusher:subscription_succeeded", "all: pusher:member_added", "all: pusher:subscription_count",
                "all: pusher:error", "presence-room: news", "all: news",
            ])
    }

    @Test func `Client and global bindings share one order and are removed by the same calls`() {
        let rig = ClientRig.connected()
        rig.pusher.subscribe("room")
        let first = rig.pusher.bindGlobal(eventCallback: hear("1"))
        rig.pusher.bind(eventCallback: hear("2"))
        rig.pusher.bindGlobal(eventCallback: hear("3"))
        rig.socket.publish(channel: "room", event: "a", data: "")
        rig.pusher.unbind(callbackId: first)
        rig.socket.publish(channel: "room", event: "b", data: "")
        rig.socket.serverSends(#"{"event":"c"}"#)
        rig.pusher.unbindAll()
        rig.socket.publish(channel: "room", event: "d", data: "")
        rig.socket.serverSends(#"{"event":"e"}"#)
        #expect(calls == ["1: a", "2: a", "3: a", "2: b", "3: b", "3: c"])
    }
}

/// When an object that a closure holds is released, it may do anything, such as unbind other closures. So it must not be
/// released under a lock that those calls need.
@Suite struct LetGoClosureTests {
    /// A way to have a client release a closure.
    struct Way: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Gives the client a closure that holds the owner, and returns an action that makes the client release the closure.
        let leave: @Sendable (Pusher, any AnyObject & Sendable) -> @Sendable () -> Void

        init(_ name: String, _ leave: @escaping @Sendable (Pusher, any AnyObject & Sendable) -> @Sendable () -> Void) {
            (testDescription, self.leave) = (name, leave)
        }
    }

    static let ways: [Way] = [
        Way("unbind") { pusher, owner in
            let id = pusher.subscribe("room").bind(eventName: "e") { _ in _ = owner }
            return { pusher.subscribe("room").unbind(eventName: "e", callbackId: id) }
        },
        Way("unbindAll of an event") { pusher, owner in
            pusher.subscribe("room").bind(eventName: "e") { _ in _ = owner }
            return { pusher.subscribe("room").unbindAll(forEventName: "e") }
        },
        Way("unbindAll of a channel") { pusher, owner in
            pusher.subscribe("room").bind(eventName: "e") { _ in _ = owner }
            return { pusher.subscribe("room").unbindAll() }
        },
        Way("unbind of all events") { pusher, owner in
            let id = pusher.bind { _ in _ = owner }
            return { pusher.unbind(callbackId: id) }
        },
        Way("unbindAll of all events") { pusher, owner in
            pusher.bind { _ in _ = owner }
            return { pusher.unbindAll() }
        },
        Way("unsubscribe") { pusher, owner in
            pusher.subscribe("room").bind(eventName: "e") { _ in _ = owner }
            return { pusher.unsubscribe("room") }
        },
        Way("another callback") { pusher, owner in
            pusher.subscribe("presence-room", onMemberAdded: { _ in _ = owner })
            return { pusher.subscribe("presence-room", onMemberAdded: { _ in }) }
        },
        Way("unbind of the user's events") { pusher, owner in
            let id = pusher.user.bind(eventName: "e") { _ in _ = owner }
            return { pusher.user.unbind(eventName: "e", callbackId: id) }
        },
        Way("unbindAll of the user's events") { pusher, owner in
            pusher.user.bind(eventName: "e") { _ in _ = owner }
            return { pusher.user.unbindAll() }
        },
        Way("another fetcher of the user's data") { pusher, owner in
            pusher.connection.userDataFetcher = {
                withExtendedLifetime(owner) {}
                return PusherPresenceChannelMember(userID: "me")
            }
            return { pusher.connection.userDataFetcher = nil }
        },
        Way("unbind of the watchlist") { pusher, owner in
            let id = pusher.user.watchlist.bind(eventName: "online") { _ in _ = owner }
            return { pusher.user.watchlist.unbind(callbackId: id) }
        },
    ]

    @Test(arguments: ways) func `An object released by removing a closure can call the client without a deadlock`(
        way: Way
    ) throws {
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
        let letGo = try way.leave(pusher, #require(owner))
        owner = nil
        #expect(calls.withLock { $0 } == 0)
        try #require(isDone { letGo() }, "it hangs")
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
