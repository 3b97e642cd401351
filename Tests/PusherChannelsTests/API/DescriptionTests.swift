import Foundation
import PusherChannels
import TestSupport
import Testing

/// The descriptions of a client and a channel, which are shown if an expectation about them fails.
@Suite struct DescriptionTests {
    @Test func `A channel's description says what the channel waits for and for how long`() throws {
        try withTestHarness(allowing: [.pendingTimer]) { harness in
            let gate = Gate()
            harness.session.stub("POST /pusher/auth", .http(503), .ok.held(by: gate))
            let pusher = harness.makePusher()
            let orders = pusher.subscribe("private-orders")
            #expect("\(orders)" == "private-orders: waits for a connection, which is disconnected")
            pusher.connect()
            #expect("\(orders)".hasPrefix("private-orders: tried again in ") && "\(orders)".hasSuffix("(code 503)"))
            harness.scheduler.advance(by: .seconds(10))
            #expect("\(orders)".hasPrefix("private-orders: waits for its authorization, given up in "))
            pusher.unsubscribe("private-orders")
            #expect("\(orders)" == "private-orders: unsubscribed")
            gate.open()
        }
    }

    @Test func `A channel's description tells its subscription, its member count, or its latest error`() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let (news, lobby) = (pusher.subscribe("news"), pusher.subscribe("presence-lobby"))
            pusher.connect()
            #expect("\(news)" == "news: subscribed")
            #expect("\(lobby)" == "presence-lobby: subscribed, 1 member")
            harness.session.stub("POST /pusher/auth", .http(403))
            let room = pusher.subscribe("private-room")
            #expect("\(room)".hasPrefix("private-room: failed, latest error: ") && "\(room)".hasSuffix("(code 403)"))
        }
    }

    @Test func `Events, members, and gaps show their contents in their descriptions, events in one line`() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let told = Locked<[String]>([])
            let lobby = pusher.subscribe("presence-lobby")
            lobby.bind(eventName: "placed") { event in told.withLock { $0.append("\(event)") } }
            pusher.connect()
            harness.server.publish(channel: "presence-lobby", event: "placed", data: "{\"id\":7,\n\"by\":\"ann\"}")
            #expect(told.withLock(\.last) == #"placed on presence-lobby: {"id":7,\u{a}"by":"ann"}"#)
        }
        let ann = PusherPresenceChannelMember(userID: "ann", userInfo: ["name": "Ann"])
        #expect("\(ann)" == #"ann {"name":"Ann"}"#)
        let gap = EventGap(since: Date(timeIntervalSince1970: 0), reason: .overflow)
        #expect("\(ChannelUpdate.eventsMayBeMissing(gap))".contains("overflow, since 1970-01-01 00:00:00 +0000"))
    }

    @Test func `Descriptions tell whether a socket, a greeting, or the server's answer is awaited`() throws {
        try withTestHarness(allowing: [.pendingTimer, .openSocket]) { harness in
            let pusher = harness.makePusher(socket: harness.makeWebSocket(server: .manual))
            let news = pusher.subscribe("news")
            pusher.connect()
            #expect("\(news)".hasPrefix("news: waits for a connection, which is opening a socket, given up in "))
            let socket = try #require(pusher.connection.socket as? MockWebSocket)
            socket.accept()
            #expect("\(pusher)".hasPrefix("local-key at ws.pusherapp.com: waiting for the server's greeting, given up in "))
            socket.serverEstablishes()
            #expect("\(news)".hasPrefix("news: waits for the server's answer, given up in "))
        }
    }

    @Test func `A client's description tells its connection state and which channels aren't subscribed`() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher { $0.host = .cluster("eu") }
            #expect("\(pusher)" == "local-key at ws-eu.pusher.com: disconnected")
            let channels = (1...7).map { pusher.subscribe("news-\($0)") }
            pusher.connect()
            #expect("\(pusher)".hasSuffix("; 7 of 7 channels subscribed"))
            #expect("\(pusher.connection)" == "\(pusher)")
            harness.server.close(try #require(harness.server.connections.first).id, code: 4100)
            #expect("\(pusher)".contains(": reconnecting in "))
            #expect("\(pusher)".hasSuffix("news-5: waits for a connection; and 2 more"))
            withExtendedLifetime(channels) { pusher.disconnect() }
        }
    }
}
