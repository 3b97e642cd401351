import Foundation
import Logging
import PusherChannels

/// A client, and who hears of it.
final class HeldClient: PusherDelegate, Sendable {
    let pusher: Pusher
    private let connected: Tally?

    /// Makes a client that is counted once it is connected.
    ///
    /// - Parameter sharesThreads: As a program with so many has it: a queue of each client's own, but not a thread.
    init(port: Int, sharesThreads: Bool = true, connected: Tally? = nil) {
        self.connected = connected
        var options = PusherClientOptions(autoReconnect: false, host: .host("127.0.0.1"), port: port, useTLS: false)
        // They are let go of while they are connected, which each would say.
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
