import TestSupport

@testable import PusherChannels

/// Failures and user actions at random times.
extension Simulation {
    mutating func makeTrouble() {
        guard remainingTroubles > 0 else { return }
        remainingTroubles -= 1
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: publishSome()
        case 30..<42: subscribe(to: pick(Self.channels))
        case 42..<48: unsubscribe(from: pick(Self.channels))
        case 48..<56: trigger(on: pick(["private-p", "presence-r"]))
        case 56..<64: connect()
        case 64..<67: disconnect()
        case 67..<70: tellClient(.networkChanged)
        case 70..<78: if let id = linkInUse { cut(id) }
        case 78..<84: closeConnections(code: pick([1000, 1001, 4001, 4100, 4200, 4200, 4201]))
        case 84..<94: comeOrGo(peer: Int.random(in: 1...4, using: &random))
        case 94..<97: tellClient(.signIn)
        case 97 where separatesNodes: changeServer { server, _ in server.nodesHearEachOther.toggle() }
        default: restartServer()
        }
        schedule(.trouble, at: now + duration(chance(70) ? 1...2_000 : 1...longestQuiet))
    }

    mutating func connect() {
        wantsConnection = true
        tellClient(.connect)
    }

    mutating func disconnect() {
        wantsConnection = false
        tellClient(.disconnect)
    }

    mutating func subscribe(to channel: Name) {
        wantedChannels.insert(channel)
        tellClient(.subscribe(channel: channel, auth: nil))
    }

    private mutating func unsubscribe(from channel: Name) {
        wantedChannels.remove(channel)
        oracle.userLeft(channel)
        tellClient(.unsubscribe(channel: channel))
    }

    private mutating func trigger(on channel: Name) {
        triggered += 1
        let event = ClientEvent(name: "client-\(triggered)", channel: channel, data: "{}")
        oracle.triggered.insert(event.name)
        _ = client.trigger(event, at: now)
        for case .command(.send(let message)) in client.takeOutputs() { sendToServer(EnvelopeEncoder.encode(message)) }
    }

    /// Publishes one event, or on a server that replays them, as many as it may have to replay.
    private mutating func publishSome() {
        let channel = pick(Self.channels)
        // Events that are decrypted one after the other take a frame of the stack each here.
        let most = channel == "private-encrypted-e" ? 120 : 1_100
        let count = oracle.replays == nil || chance(50) ? 1 : chance(90) ? 20 : chance(90) ? 120 : most
        for _ in 0..<count { publish(on: channel) }
    }

    /// Publishes the channel's next number.
    mutating func publish(on channel: Name) {
        let number = (published[channel] ?? 0) + 1
        published[channel] = number
        oracle.published(number, on: channel, at: now)
        changeServer { server, _ in
            server.publish(channel: channel.text, event: "number", data: String(number))
        }
    }

    private mutating func closeConnections(code: UInt16) {
        changeServer { server, _ in
            for connection in server.openConnections where connection.id.number < 1_000_000 {
                server.close(connection.id, code: code, reason: "")
            }
        }
    }

    private mutating func restartServer() {
        peersInRoom = []
        let losesStreams = oracle.replays != nil && chance(50)
        changeServer { server, _ in
            server.shutdown()
            if losesStreams { server.loseStreams() }
        }
    }

    /// Lets another member join or leave the presence channel, over a connection that never fails.
    private mutating func comeOrGo(peer: Int) {
        let id = ServerMachine.ConnectionID(1_000_000 + peer)
        guard peersInRoom.insert(peer).inserted else {
            peersInRoom.remove(peer)
            return tellServer(.closed(id))
        }
        tellServer(.opened(id, path: "/app/\(Self.app.key)?protocol=7"))
        let socketID = server.openConnections.first { $0.id == id }?.socketID ?? ""
        let data = "{\"user_id\":\"peer-\(peer)\",\"user_info\":{}}"
        let auth =
            (try? Signature.channel(
                "presence-r", channelData: data, socketID: socketID, key: Self.app.key, secret: Self.app.secret)) ?? ""
        let message = ClientMessage.subscribe(channel: "presence-r", auth: auth, channelData: data)
        tellServer(.received(EnvelopeEncoder.encode(message), from: id))
    }
}
