import Processes
import PusherChannels
import TestSupport

extension Scenario {
    /// Scenarios in which the client runs out of a resource. Every attempt meanwhile ends in an error, and the first one
    /// afterwards succeeds.
    static let shortages = [
        Scenario("There is no thread to be had, and a loop is to be made", asOtherUser: true) { site in
            try await site.setThreads(enough: false)
            let before = await site.feed.state.heard.count
            try site.world.endLoop()
            await site.clientFails(3, as: "transport(.unreachable)", since: before)
            try await site.setThreads(enough: true)
            try await site.expectRecovery()
        },
        Scenario("There is no descriptor to be had, then one, and up to eight") { site in
            for free in 0...8 {
                try site.setDescriptors(free: free)
                let before = await site.feed.state.heard.count
                site.proxy.cutAll()
                await site.feed.wait { $0.hasEnded(since: before) }
                try site.lift(.descriptors)
                try await site.expectRecovery()
            }
        },
        Scenario("Memory is short, and the server and the authorization endpoint send without an end") { site in
            let server = try EndlessServer()
            let long = site.authServer.stub("POST /pusher/auth", StubResponse(text: String(repeating: "x", count: 64 << 20)))
            // A few times as much as a message and a response may take, plus a thread's stack.
            try site.setMemory(free: 96 << 20)
            let before = await site.feed.state.heard.count
            try site.openFront(to: server.port)
            await site.clientFails(2, as: "transport(.protocolViolation)", since: before)
            try site.openFront()
            await site.feed.wait { $0.hasFailedToSubscribe(since: before) }
            site.authServer.remove(long)
            try site.lift(.memory)
            site.proxy.cutAll()
            server.stop()
        },
    ]
}

extension Site {
    /// Waits until the client is connected again; at most the attempt that was under way may still fail.
    fileprivate func expectRecovery() async throws {
        let before = await feed.state.heard.count
        await feed.wait { $0.connection == "connected" }
        let errors = await feed.state.errors(since: before)
        guard errors.count < 2 else { throw Trouble("nothing was short any more, and it still failed: \(errors)") }
    }
}

extension Feed.State {
    fileprivate func errors(since before: Int) -> [Heard] {
        heard.dropFirst(before).filter { if case .error = $0 { true } else { false } }
    }

    /// Returns whether the connection was lost and an attempt for another one has ended, successfully or not.
    fileprivate func hasEnded(since before: Int) -> Bool {
        guard let lost = heard.dropFirst(before).firstIndex(of: .state("connecting")) else { return false }
        return heard[lost...].contains(.state("connected")) || errors(since: lost).contains { $0 != heard[lost] }
    }

    fileprivate func hasFailedToSubscribe(since before: Int) -> Bool {
        heard.dropFirst(before).contains { if case .subscriptionFailed = $0 { true } else { false } }
    }
}
