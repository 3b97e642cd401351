extension Pusher: Hashable {
    /// Returns whether both are one client.
    public static func == (left: Pusher, right: Pusher) -> Bool { left === right }

    /// Hashes the client's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension PusherChannel: Hashable {
    /// Returns whether both are one object: what subscribing twice gives.
    public static func == (left: PusherChannel, right: PusherChannel) -> Bool { left === right }

    /// Hashes the channel's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
