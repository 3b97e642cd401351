extension Pusher: Hashable {
    /// Returns whether both are the same client.
    public static func == (left: Pusher, right: Pusher) -> Bool { left === right }

    /// Hashes the client's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension PusherChannel: Hashable {
    /// Returns whether both are the same object. Subscribing twice returns the same object.
    public static func == (left: PusherChannel, right: PusherChannel) -> Bool { left === right }

    /// Hashes the channel's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
