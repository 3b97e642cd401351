import ArgumentParser
import PusherChannels

/// Makes and releases clients, batch by batch. Prints the state of the process after a warm-up, and after each round.
struct ReleaseClients: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "release")

    @Option(help: "The port of a Channels server on this machine, to which each client connects; without it none does.")
    var port: Int?

    @Option(help: "How many clients to make in a round.")
    var count: Int

    @Option(help: "How many of them at a time.")
    var batch = 100

    @Option(help: "How many to make before the first round.")
    var warmUp = 500

    @Option(help: "How many rounds.")
    var rounds = 2

    @Flag(help: "Use the default delivery queues, which have threads of their own.")
    var ownThreads = false

    func run() async throws {
        let clock = ContinuousClock()
        await makeAndRelease(warmUp)
        await ProcessState.settled().report("warm")
        for round in 1...rounds {
            let start = clock.now
            await makeAndRelease(count)
            let time = clock.now - start
            await ProcessState.settled().report("round \(round)", after: time)
        }
    }

    private func makeAndRelease(_ count: Int) async {
        for start in stride(from: 0, to: count, by: batch) {
            let size = min(batch, count - start)
            let connected = Tally()
            let clients = (0..<size).map { _ in HeldClient(port: port ?? 1, sharesThreads: !ownThreads, connected: connected) }
            if port != nil {
                for client in clients { client.pusher.connect() }
                await connected.reach(size)
            }
            withExtendedLifetime(clients) {}
        }
    }
}
