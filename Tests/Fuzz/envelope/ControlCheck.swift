/// Checks that the right messages are treated as the protocol's own, and that each of these is valid.
func checkControl(_ outcome: Result<ServerMessage, MalformedMessage>) {
    switch outcome {
    case .success(.event(let envelope)):
        require(!isReserved(envelope.event), "\(envelope.event) is the protocol's own")
    case .success(.control(let control, let envelope)):
        require(isReserved(envelope.event), "\(envelope.event) is not the protocol's own")
        check(control, envelope)
    case .failure(.incomplete(let event, _)):
        require(isReserved(event), "\(event) may hold whatever it likes")
    case .failure: break
    }
}

/// Indicates whether an event is the protocol's own. Compares bytes, because the protocol treats an accent as a separate
/// character.
private func isReserved(_ event: Name) -> Bool {
    ["pusher:", "pusher_internal:"].contains { event.text.utf8.starts(with: $0.utf8) }
}

private func check(_ control: ServerControl, _ envelope: Envelope) {
    switch control {
    case .connectionEstablished(let socketID, let timeout):
        require(SocketID(socketID.text) == socketID && timeout ?? .seconds(1) > .zero, "\(control)")
    case .subscriptionSucceeded(let channel, let presence):
        require(channel == envelope.channel && !channel.text.isEmpty, "\(control)")
        let ids = (presence?.list.members ?? []).map(\.userID)
        require(Set(ids).count == ids.count, "a member is there once: \(ids)")
        let hash = envelope.payload?["presence"]?["hash"]?.objectValue ?? [:]
        require(hash.keys.allSatisfy(ids.contains), "a member is missing in \(ids)")
    case .subscriptionError(let channel, _, let message, _):
        require(channel == envelope.channel && !message.isEmpty, "\(control)")
    case .error(_, let message): require(!message.isEmpty, "\(control)")
    case .subscriptionCount(let channel, _), .memberAdded(let channel, _), .memberRemoved(let channel, _),
        .cacheMiss(let channel):
        require(channel == envelope.channel && !channel.text.isEmpty, "\(control)")
    case .signedIn(let userID): require(!userID.text.isEmpty, "\(control)")
    case .ping, .pong, .watchlist, .unknown: break
    }
}
