import Foundation
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

    @Test func closuresOfTheClientHearEventsOfChannelsOnly() {
        let rig = ClientRig()
        rig.pusher.bind(eventCallback: hear("client"))
        rig.pusher.bind { [heard] event in heard.withLock { $0.append(event.channelName ?? "none") } }
        playEverything(to: rig)
        #expect(calls == ["client: pusher:subscription_succeeded", "presence-room", "client: news", "presence-room"])
    }

    @Test func globalClosuresHearEverything() {
        let rig = ClientRig()
        rig.pusher.bindGlobal(eventCallback: hear("all"))
        playEverything(to: rig)
        #expect(
            calls == [
                "all: pusher:connection_established", "all: pusher:subscription_succeeded", "all: pusher:member_added",
                "all: pusher:subscription_count", "all: pusher:error", "all: news",
            ])
    }

    @Test func bothSortsAreCalledInOrderOfBindingAndTakenBack() {
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

    @Test func channelsThatWereUnsubscribedAreSilent() {
        let rig = ClientRig.connected()
        rig.pusher.bind(eventCallback: hear("client"))
        rig.pusher.subscribe("room")
        rig.pusher.unsubscribe("room")
        rig.socket.serverSends(#"{"event":"news","channel":"room","data":"1"}"#)
        #expect(calls == ["client: pusher:subscription_succeeded"])
    }

    @Test func aSubscriptionErrorHasData() throws {
        let rig = ClientRig(auth: .noMethod)
        let data = Locked<[String?]>([])
        rig.pusher.bind { event in if event.eventName == "pusher:subscription_error" { data.withLock { $0.append(event.data) } } }
        rig.pusher.subscribe("private-room")
        rig.pusher.connect()
        let text = try #require(data.withLock { $0.first ?? nil })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["type"] as? String == "AuthError" && object["error"] is String)
    }

    @Test func theDataPropertyIsWhatTheServerSent() {
        let rig = ClientRig.connected()
        let data = Locked<[String]>([])
        rig.pusher.bindGlobal { event in
            let word =
                switch event.property(withKey: "data") {
                case let text as String: "text \(text)"
                case let numbers as [Int]: "numbers \(numbers)"
                case let number as Int: "number \(number)"
                case let other: "\(String(describing: other))"
                }
            data.withLock { $0.append(word) }
        }
        for text in ["\"{}\"", "[1]", "7", "null"] { rig.socket.serverSends(#"{"event":"e","data":\#(text)}"#) }
        #expect(data.withLock { $0 } == ["text {}", "numbers [1]", "number 7", "nil"])
    }
}
