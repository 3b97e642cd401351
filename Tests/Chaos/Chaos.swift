import ArgumentParser

/// A program that subjects real clients and servers to the faults of networks and machines.
@main
struct Chaos: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chaos",
        abstract: "Does to a client and its server what networks and machines do, and checks what the client makes of it.",
        subcommands: [Run.self, Soak.self, List.self, Client.self, LimitThreads.self],
        defaultSubcommand: Run.self)
}
