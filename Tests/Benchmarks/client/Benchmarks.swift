import ArgumentParser
import Foundation
import Logging
import PusherChannels

/// The client's part of `ci/measure/bench`, each in a process of its own, and of the guard that counts instructions.
///
/// No command is `async`: the main thread of one that is ends in a call that valgrind doesn't survive.
@main
struct Benchmarks: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmarks", abstract: "The client's part of ci/measure/bench.",
        subcommands: [Receive.self, Trigger.self, Pair.self, Pool.self, Again.self, Idle.self, Instructions.self, Cost.self])
}

/// Which feed a client goes to: one on this machine.
struct FeedOptions: ParsableArguments {
    @Option(help: "The feed's port.")
    var port: Int

    @Option(help: "The certificate to trust, in a PEM file; without it there is no TLS.")
    var certificate: String?

    /// A client of it, whose key is the one that the feed takes.
    func client(delivery: DeliveryPolicy? = nil, autoReconnect: Bool = false) -> Pusher {
        Pusher(key: "local-key", options: options(delivery: delivery, autoReconnect: autoReconnect))
    }

    /// The options of its clients, whose authorizations are those that the feed takes.
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
        // Connections that are cut on purpose, and clients that are let go of while they are connected, are warned of.
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

/// Writes a result at once, also into a pipe.
func output(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
