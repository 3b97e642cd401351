import Dispatch
import Foundation
import PusherChannels
import TestSupport
import Testing

/// The client as its user sees it, on a socket in memory.
@Suite struct PusherTests {
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
    func `The options make up the server's address`(host: PusherHost, port: Int?, path: String?, tls: Bool, url: String) throws {
        let rig = ClientRig.connected {
            ($0.host, $0.path, $0.useTLS) = (host, path, tls)
            if let port { $0.port = port }
        }
        let request = try #require(rig.socket.requests.first)
        let address = "\(request.secure ? "wss" : "ws")://\(request.host):\(request.port)\(request.path)"
        #expect(address.hasPrefix(url + "?protocol=7&client=swift-pusher-channels&version="))
    }

    @Test func `The default port follows TLS, and a port that is set stays`() {
        var options = PusherClientOptions()
        options.useTLS = false
        #expect(options.port == 80)
        options.port = 6001
        options.useTLS = true
        #expect(options.port == 6001)
    }

    // Proves P1.4.
    @Test(arguments: [("a/b?c=d#e", "a%2Fb%3Fc%3Dd%23e"), ("ключ", "%D0%BA%D0%BB%D1%8E%D1%87")])
    func `Any app key is percent-encoded as one part of the path`(key: String, encoded: String) throws {
        let rig = ClientRig(server: .manual, key: key)
        rig.pusher.connect()
        #expect(try #require(rig.socket.requests.first).path.hasPrefix("/app/\(encoded)?protocol=7"))
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
        #expect(!rig.socket.isOpen && !room.subscribed && rig.scheduler.pendingTimers.isEmpty)
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
        #expect(connection == nil && !socket.isOpen)
    }

    @Test func `A channel object that is held keeps its client's connection open`() {
        let socket = MockWebSocket()
        func subscribe() -> PusherChannel {
            let pusher = Pusher(key: "key", environment: PusherEnvironment(makeWebSocket: { socket }))
            pusher.connect()
            return pusher.subscribe("room")
        }
        withExtendedLifetime(subscribe()) { #expect(socket.isOpen) }
    }

    private struct Position: Encodable {
        let x: Int
        let name: String
    }

    // Proves P8.1, P8.4.
    @Test func `Encodable values and Any are sent as JSON with all their digits, and refused if they can't be JSON`() throws {
        let rig = ClientRig.connected()
        let room = rig.pusher.subscribe("private-room")
        func isSent(_ result: TriggerResult, as json: String) -> Bool {
            result == .sent && rig.socket.frames.last?.text.hasSuffix(#""channel":"private-room","data":\#(json)}"#) == true
        }
        let moved = room.trigger(eventName: "client-moved", data: Position(x: 7, name: "\"ä\""))
        #expect([#"{"x":7,"name":"\"ä\""}"#, #"{"name":"\"ä\"","x":7}"#].contains { isSent(moved, as: $0) })
        let none: [String: Any]? = nil
        for (data, json) in [
            (["list": [1, 2.5, true, NSNull(), "x"] as [Any]], #"{"list":[1,2.5,true,null,"x"]}"#),
            (["id": UInt64.max, "path": "a/b"] as [String: Any], #"{"id":18446744073709551615,"path":"a/b"}"#),
            (none as Any, "null"), (["to": none as Any], #"{"to":null}"#),
        ] as [(Any, String)] {
            #expect(isSent(room.trigger(eventName: "client-moved", data: data), as: json))
        }
        for refused in [
            room.trigger(eventName: "client-a", data: Double.nan), room.trigger(eventName: "client-a", data: rig as Any),
        ] {
            #expect(try refused.refusal().kind == .invalidRequest)
        }
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
