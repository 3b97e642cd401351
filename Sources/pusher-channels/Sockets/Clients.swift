import Foundation
import PusherChannels

/// A client, and who hears of it.
final class HeldClient: PusherDelegate, Sendable {
    let pusher: Pusher
    private let connected: Tally?

    /// Makes a client that is counted once it is connected.
    init(port: Int, connected: Tally? = nil) {
        self.connected = connected
        // As a program with so many does: a queue of each client's own, but not a thread.
        let queue = DispatchQueue(label: "client", target: .global())
        let options = PusherClientOptions(
            autoReconnect: false, host: .host("127.0.0.1"), port: port, useTLS: false, delivery: .queue(queue))
        pusher = Pusher(key: "local-key", options: options)
        pusher.delegate = self
    }

    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        if new == .connected { connected?.add() }
    }

    func receivedError(error: PusherError) {
        note("\(error)")
    }
}
