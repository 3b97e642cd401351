import ArgumentParser
import Foundation
import PusherChannels

/// Makes one client with a channel, then many more, a hundred at a time. Prints the state of the process before and after that,
/// and after all were released.
struct HoldClients: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "clients")

    @Option(help: "The port of a Channels server on this machine.")
    var port: Int

    @Option(help: "How many clients to make.")
    var count: Int

    func run() async throws {
        let subscribed = Tally()
        var clients = [makeClient(subscribed)]
        await subscribed.reach(1)
        await ProcessState.settled().report("before")
        let clock = ContinuousClock()
        let start = clock.now
        for number in 1...count {
            clients.append(makeClient(subscribed))
            if number % 100 == 0 { await subscribed.reach(number + 1) }
        }
        await subscribed.reach(count + 1)
        ProcessState().report("open", after: clock.now - start)
        clients = []
        await ProcessState.settled().report("closed")
    }

    private func makeClient(_ subscribed: Tally) -> HeldClient {
        let client = HeldClient(port: port)
        let channel = client.pusher.subscribe("idle")
        channel.bind(eventName: "pusher:subscription_succeeded") { _ in subscribed.add() }
        client.pusher.connect()
        return client
    }
}
