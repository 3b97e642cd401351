import ArgumentParser
import Foundation
import PusherChannels

struct Webhook: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Do what an app's backend does with webhooks.", subcommands: [Verify.self], defaultSubcommand: Verify.self)

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Verify a webhook from standard input, and print its events, one JSON object per line.",
            discussion: """
                Needs no network. The body is verified byte for byte: watch out for a line break that an editor adds.

                \(Status.text)
                """)

        @Option(help: "The request's header field X-Pusher-Signature.")
        var signature: String

        @Option(help: "The request's header field X-Pusher-Key; by default the app's key.")
        var webhookKey: String?

        @Flag(help: "Accept a webhook with any time; by default, its time may differ from now by at most ten minutes.")
        var anyTime = false

        @OptionGroup var configuration: SettingsOptions

        @OptionGroup var app: AppOptions

        func validate() throws {
            _ = try app.masterKeys(configuration)
        }

        func run() throws {
            let key = configuration.key
            let verifier = PusherWebhookVerifier(
                secrets: [key: try app.secret(configuration)], encryptionMasterKeys: try app.masterKeys(configuration),
                tolerance: anyTime ? nil : .seconds(600))
            let webhook = try verifier.verify(body: try input(), key: webhookKey ?? key, signature: signature)
            for event in webhook.events { output(event.line) }
        }

        private func input() throws -> Data {
            do {
                return try FileHandle.standardInput.readToEnd() ?? Data()
            } catch {
                throw Failure("standard input can't be read: \(error.localizedDescription)")
            }
        }
    }
}

extension PusherWebhook.Event {
    /// The event as one JSON object, as it is in a webhook, without characters that control a terminal.
    fileprivate var line: String {
        switch self {
        case .channelOccupied(let channel): line("channel_occupied", channel)
        case .channelVacated(let channel): line("channel_vacated", channel)
        case .memberAdded(let channel, let userID): line("member_added", channel, ["user_id": .string(userID)])
        case .memberRemoved(let channel, let userID): line("member_removed", channel, ["user_id": .string(userID)])
        case .clientEvent(let event): line("client_event", event.channel, event.members)
        case .cacheMiss(let channel): line("cache_miss", channel)
        case .subscriptionCount(let channel, let count):
            line("subscription_count", channel, ["subscription_count": .integer(count)])
        case .other(_, let json): json.asSafeJSON
        }
    }

    private func line(_ name: String, _ channel: String, _ others: [Name: JSONValue] = [:]) -> String {
        var members = others
        members["name" as Name] = .string(name)
        members["channel" as Name] = .string(channel)
        return JSONValue.object(members).text.asSafeJSON
    }
}

extension PusherWebhook.ClientEvent {
    fileprivate var members: [Name: JSONValue] {
        var members: [Name: JSONValue] = ["event": .string(eventName)]
        members["data" as Name] = data.map { .string($0) }
        members["socket_id" as Name] = socketID.map { .string($0) }
        members["user_id" as Name] = userID.map { .string($0) }
        return members
    }
}
