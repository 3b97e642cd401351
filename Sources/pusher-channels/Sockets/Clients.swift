import Foundation
import Logging
import PusherChannels

/// A client, and its delegate.
final class HeldClient: PusherDelegate, Sendable {
    let pusher: Pusher
    private let connected: Tally?

    /// Creates a client that is counted once it is connected.
    ///
    /// - Parameter sharesThreads: `true` for the setup of a program with this many clients: each has its own queue, but not a
    ///   thread.
    init(port: Int, sharesThreads: Bool = true, connected: Tally? = nil) {
        self.connected = connected
        var options = PusherClientOptions(autoReconnect: false, host: .host("127.0.0.1"), port: port, useTLS: false)
        // The clients are released while they are connected, which each of them would log.
        options.logger.logLevel = .warning
        if sharesThreads { options.delivery = .queue(DispatchQueue(label: "client", target: .global())) }
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
