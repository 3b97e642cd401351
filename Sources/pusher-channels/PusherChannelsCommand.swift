import ArgumentParser
import PusherChannels

@main
struct PusherChannelsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pusher-channels",
        abstract: "A Channels client, the backend of one, and a local Channels server to try them against.",
        discussion: """
            What all commands need to know of an app may stand in the environment: PUSHER_APP_ID, PUSHER_KEY, PUSHER_SECRET, \
            PUSHER_ENCRYPTION_MASTER_KEY, and PUSHER_CLUSTER or PUSHER_HOST, PUSHER_PORT and PUSHER_TLS. Options go before it.

            \(Status.text)

            `pusher-channels --generate-completion-script bash` (or zsh, fish) prints what completes a command line in that shell.
            """,
        version: libraryVersion,
        subcommands: [
            Serve.self, Listen.self, Doctor.self, Trigger.self, Channels.self, Users.self, Terminate.self, Auth.self,
            Webhook.self, Bench.self,
            Demo.self, Sockets.self,
        ])
}
