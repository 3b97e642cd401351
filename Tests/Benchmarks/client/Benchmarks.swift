import ArgumentParser
import Foundation
import Logging
import PusherChannels

/// The client's part of `ci/measure/bench`, with each benchmark in its own process, and of the check that counts instructions.
///
/// No command is `async`, because the main thread of an `async` command ends in a call that valgrind doesn't survive.
@main
struct Benchmarks: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmarks", abstract: "The client's part of ci/measure/bench.",
        subcommands: [Receive.self, Trigger.self, Pair.self, Pool.self, Again.self, Idle.self, Instructions.self, Cost.self])
}

/// The options that select a client's feed, which is on this machine.
struct FeedOptions: ParsableArguments {
    @Option(help: "The feed's port.")
    var port: Int

    @Option(help: "The certificate to trust, in a PEM file; without it there is no TLS.")
    var certificate: String?

    /// Returns a client of the feed, with the key that the feed accepts.
    func client(delivery: DeliveryPolicy? = nil, autoReconnect: Bool = false) -> Pusher {
        Pusher(key: "local-key", options: options(delivery: delivery, autoReconnect: autoReconnect))
    }

    /// Returns the options of the feed's clients, with authorizations that the feed accepts.
    func options(delivery: DeliveryPolicy? = nil, autoReconnect: Bool = false) -> PusherClientOptions {
        var options = PusherClientOptions(
            authMethod: .customHandler { _, channel in
                let roster = channel.hasPrefix("presence-") ? #"{"user_id":"0"}"# : nil
                let secret = channel.hasPrefix("private-encrypted-") ? Data(feedSecret.utf8).base64EncodedString() : nil
                return PusherAuth(auth: "key:signature", channelData: roster, sharedSecret: secret)
            },
            autoReconnect: autoReconnect, host: .host("127.0.0.1"), port: port, useTLS: certificate != nil,
            tls: TLSConfiguration(roots: certificate.map { .only(.file($0)) } ?? .system), proxy: .none, limits: .unchecked)
        if let delivery { options.delivery = delivery }
        // Connections that are cut on purpose, and clients that are released while connected, log warnings.
        options.logger.logLevel = .error
        return options
    }
}

/// The key of encrypted channels, as in the feed's source.
let feedSecret = "0123456789abcdef0123456789abcdef"

/// The data of an event of the feed.
struct Tick: Codable, Sendable {
    let n: Int
    let price: Double
    let s: String
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Writes a result without delay, even into a pipe.
func output(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
