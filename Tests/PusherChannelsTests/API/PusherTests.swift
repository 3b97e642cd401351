import Dispatch
import Foundation
import PusherChannels
import TestSupport
import Testing

/// The client as its user sees it, on a socket in memory.
@Suite struct PusherTests {
    // Proves P3.3.
    @Test func `A client opens no socket before connect() is called`() {
        let rig = ClientRig()
        rig.pusher.subscribe("room")
        #expect(rig.socket.requests.isEmpty)
        #expect(rig.pusher.connection.connectionState == .disconnected)
        #expect(rig.pusher.connection.socketID == nil)
    }

    @Test func `If the server answers at once, the client is connected when connect() returns`() {
        let rig = ClientRig.connected()
        #expect(rig.pusher.connection.connectionState == .connected)
        #expect(rig.pusher.connection.socketID == "46123.486095")
        #expect(rig.recorder.states == [.connecting, .connected])
    }

    // Proves P1.1, P1.2, P1.3.
    @Test(arguments: [
        (PusherHost.host("example.org"), Int?.none, String?.none, true, "wss://example.org:443/app/key"),
        (.host("example.org"), nil, nil, false, "ws://example.org:80/app/key"),
        (.host("example.org"), 6001, "/ws/a b/", false, "ws://example.org:6001/ws/a%20b/app/key"),
        (.cluster("eu"), nil, nil, true, "wss://ws-eu.pusher.com:443/app/key"),
        (.defaultHost, nil, nil, true, "wss://ws.pusherapp.com:443/app/key"),
    ])
    func `The server's address is made of the host or cluster, port, path, and TLS options`(
        host: PusherHost, port: Int?, path: String?, tls: Bool, url: String
    ) throws {
        let rig = ClientRig.connected {
            $0.host = host
            if let port { $0.port = port }
            $0.path = path
            $0.useTLS = tls
        }
        let request = try #require(rig.socket.requests.first)
        let scheme = request.secure ? "wss" : "ws"
        let query = "?protocol=7&client=swift-pusher-channels&version="
        #expect("\(scheme)://\(request.host):\(request.port)\(request.path)".hasPrefix(url + query))
    }

    @Test func `The default port is 443 with TLS and 80 without, and a port that is set stays`() {
        var options = PusherClientOptions()
        #expect(options.port == 443)
        options.useTLS = false
        #expect(options.port == 80)
        options.port = 6001
        options.useTLS = true
        #expect(options.port == 6001)
        #expect(PusherClientOptions(port: 8080, useTLS: false).port == 8080)
    }

    // Proves P1.4.
    @Test(arguments: [("a/b?c=d#e", "a%2Fb%3Fc%3Dd%23e"), ("ключ", "%D0%BA%D0%BB%D1%8E%D1%87")])
    func `Any app key is percent-encoded as one part of the path`(key: String, encoded: String) throws {
        let rig = ClientRig(server: .manual, key: key)
        rig.pusher.connect()
        let request = try #require(rig.socket.requests.first)
        #expect(request.path.hasPrefix("/app/\(encoded)?protocol=7"))
    }

    // Proves P1.5, P1.6, P13.4.
    @Test func `The upgrade request names the protocol, client, and version, and nothing else`() throws {
        let rig = ClientRig.connected()
        let request = try #require(rig.socket.requests.first)
        let query = try #require(request.path.split(separator: "?").last).split(separator: "&")
        #expect(query.dropLast() == ["protocol=7", "client=swift-pusher-channels"])
        let version = try #require(query.last).split(separator: "=")
        #expect(version.first == "version")
        #expect(version.last?.split(separator: ".").compactMap { Int($0) }.count == 3)
        #expect(request.headers["Sec-WebSocket-Protocol"] == nil)
    }

    // Proves P3.8, P6.1.
    @Test func `Disconnecting closes the socket and stops timers, and connect() subscribes channels again`() {
        let rig = ClientRig.connected()
        let room = rig.pusher.subscribe("room")
        rig.pusher.disconnect()
        #expect(rig.pusher.connection.connectionState == .disconnected)
        #expect(!rig.socket.isOpen)
        #expect(!room.subscribed)
        #expect(rig.scheduler.pendingTimers.isEmpty)
        rig.pusher.connect()
        #expect(room.subscribed)
    }

    @Test func `A client that nothing refers to closes its connection`() {
        let socket = MockWebSocket()
        weak var connection: PusherConnection?
        do {
            let pusher = Pusher(key: "key", environment: PusherEnvironment(makeWebSocket: { socket }))
            pusher.connect()
            connection = pusher.connection
            #expect(socket.isOpen)
        }
        #expect(connection == nil)
        #expect(!socket.isOpen)
    }

    @Test func `A channel object that is held keeps its client's connection open`() {
        let socket = MockWebSocket()
        func subscribe() -> PusherChannel {
            let pusher = Pusher(key: "key", environment: PusherEnvironment(makeWebSocket: { socket }))
            pusher.connect()
            return pusher.subscribe("room")
        }
        let room = subscribe()
        withExtendedLifetime(room) { #expect(socket.isOpen) }
    }

    @Test func `The channel list finds all wanted channels by name and is empty after unsubscribeAll`() {
        let rig = ClientRig.connected()
        let room = rig.pusher.subscribe("room")
        rig.pusher.subscribe("presence-lobby")
        let channels = rig.pusher.connection.channels
        #expect(channels.all.map(\.name) == ["presence-lobby", "room"])
        #expect(channels.find(name: "room")?.name == room.name)
        #expect(channels.find(name: "nowhere") == nil)
        #expect(channels.findPresence(name: "presence-lobby")?.count == 1)
        #expect(channels.findPresence(name: "room") == nil)
        rig.pusher.unsubscribeAll()
        #expect(channels.all.isEmpty)
        #expect(rig.socket.frames.filter { $0.event == "pusher:unsubscribe" }.count == 2)
    }

    // Proves P7.6.
    @Test func `A presence channel's members and closures follow joins and leaves, also after subscribing without closures`() {
        let rig = ClientRig.connected()
        let heard = Locked<[String]>([])
        rig.pusher.subscribe(
            "presence-lobby",
            onMemberAdded: { member in heard.withLock { $0.append("+\(member.userID)") } },
            onMemberRemoved: { member in heard.withLock { $0.append("-\(member.userID)") } },
            onSubscriptionCountChanged: { count in heard.withLock { $0.append("\(count)") } })
        let lobby = rig.pusher.subscribe("presence-lobby") as? PusherPresenceChannel
        let member = #""channel":"presence-lobby","data":"{\"user_id\":\"bob\",\"user_info\":{\"age\":7}}"}"#
        rig.socket.serverSends(#"{"event":"pusher_internal:member_added","# + member)
        #expect(lobby?.members.map(\.userID) == ["46123.486095", "bob"])
        #expect(lobby?["bob"]?.userInfo as? [String: Int] == ["age": 7])
        rig.socket.serverSends(#"{"event":"pusher_internal:member_removed","# + member)
        #expect(lobby?.count == 1)
        rig.socket.serverSendsEvent(
            "pusher_internal:subscription_count", channel: "presence-lobby", data: #"{"subscription_count":7}"#)
        #expect(heard.withLock { $0 } == ["+bob", "-bob", "7"])
    }

    private struct Position: Encodable {
        let x: Int
        let name: String
    }

    // Proves P8.1.
    @Test func `An Encodable value is sent as a client event's JSON data`() throws {
        let rig = ClientRig.connected()
        let room = rig.pusher.subscribe("private-room")
        #expect(room.trigger(eventName: "client-moved", data: Position(x: 7, name: "\"ä\"")) == .sent)
        let frame = try #require(rig.socket.frames.last)
        #expect(frame.channel == "private-room")
        let data = try #require(frame.data)
        #expect([#"{"x":7,"name":"\"ä\""}"#, #"{"name":"\"ä\"","x":7}"#].contains(data))
    }

    // Proves P8.1.
    @Test func `Dictionaries and arrays of Any are sent as JSON, large integers and slashes unchanged, and nil as null`() throws {
        let rig = ClientRig.connected()
        let room = rig.pusher.subscribe("private-room")
        let data: Any = ["list": [1, 2.5, true, NSNull(), "x"]]
        #expect(room.trigger(eventName: "client-moved", data: data) == .sent)
        #expect(rig.socket.frames.last?.data == #"{"list":[1,2.5,true,null,"x"]}"#)
        room.trigger(eventName: "client-moved", data: ["id": UInt64.max, "path": "a/b"] as [String: Any])
        #expect(rig.socket.frames.last?.text.contains(#"{"id":18446744073709551615,"path":"a/b"}"#) == true, "as it is")
        let none: [String: Any]? = nil
        #expect(room.trigger(eventName: "client-moved", data: none as Any) == .sent)
        #expect(rig.socket.frames.last?.text.contains(#""data":null"#) == true)
        room.trigger(eventName: "client-moved", data: ["to": none as Any])
        #expect(rig.socket.frames.last?.data == #"{"to":null}"#)
    }

    // Proves P8.2, P8.3, P8.4.
    @Test func `A client event with data that isn't JSON, a wrong name, or a public channel is refused`() throws {
        let rig = ClientRig.connected()
        let room = rig.pusher.subscribe("private-room")
        for result in [
            room.trigger(eventName: "client-a", data: Double.nan), room.trigger(eventName: "client-a", data: rig as Any),
            room.trigger(eventName: "a", data: 1), rig.pusher.subscribe("news").trigger(eventName: "client-a", data: 1),
        ] {
            #expect(try result.refusal().kind == .invalidRequest)
        }
        #expect(rig.socket.frames.allSatisfy { $0.event == "pusher:subscribe" })
    }
}

/// Clients in one process share nothing that one of them could block.
@Suite(.timeLimit(.lost)) struct ManyClientsTests {
    @Test func `A client with a blocked closure doesn't hold up other clients with the same options`() async throws {
        let server = InMemoryServer()
        let options = PusherClientOptions()
        let gate = DispatchSemaphore(value: 0)
        let clients = (0..<20).map { number -> (Pusher, RecordingDelegate) in
            let pusher = Pusher(
                key: "local-key", options: options,
                environment: PusherEnvironment(makeWebSocket: { server.makeWebSocket() }))
            let recorder = RecordingDelegate()
            let channel = pusher.subscribe("news")
            // The first client's closure is blocked.
            channel.bind(eventName: "n") { event in
                if number == 0 { gate.wait() }
                recorder.record(event)
            }
            pusher.connect()
            return (pusher, recorder)
        }
        server.publish(channel: "news", event: "n", data: "1")
        for (_, recorder) in clients.dropFirst() { try await recorder.next() }
        #expect(clients[0].1.notifications.isEmpty)
        gate.signal()
        try await clients[0].1.next()
    }
}
