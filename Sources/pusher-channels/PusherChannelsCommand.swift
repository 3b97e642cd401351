import ArgumentParser

@main
struct PusherChannelsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pusher-channels",
        abstract: "A Channels client, and a local Channels server to try it against.",
        subcommands: [Serve.self, Listen.self, Trigger.self, Bench.self, Demo.self, Sockets.self])
}
