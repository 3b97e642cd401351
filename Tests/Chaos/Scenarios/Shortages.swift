import Processes
import PusherChannels
import TestSupport

extension Scenario {
    /// Scenarios in which the machine runs out of something. Every attempt ends in an error meanwhile, and the first one after
    /// that works.
    static let shortages = [
        Scenario("There is no thread to be had, and a loop is to be made", asOtherUser: true) { site in
            try await site.setThreads(enough: false)
            let before = await site.feed.state.heard.count
            try site.endLoop()
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
                try site.setDescriptorsUnlimited()
                try await site.expectRecovery()
            }
        },
        Scenario("Memory is short, and the server and the authorization endpoint send without an end") { site in
            let server = try EndlessServer()
            let long = site.authServer.stub("POST /pusher/auth", StubResponse(text: String(repeating: "x", count: 64 << 20)))
            // Some times as much as a message and an answer may have, and a thread's stack.
            try site.setMemory(free: 96 << 20)
            let before = await site.feed.state.heard.count
            try site.openFront(to: server.port)
            await site.clientFails(2, as: "transport(.protocolViolation)", since: before)
            try site.openFront()
            await site.feed.wait { $0.hasFailedToSubscribe(since: before) }
            site.authServer.remove(long)
            try site.setMemoryUnlimited()
            site.proxy.cutAll()
            server.stop()
        },
    ]
}

extension Site {
    /// At most what was under way still fails; then the client is back.
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
