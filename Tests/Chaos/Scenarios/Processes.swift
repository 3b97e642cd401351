import Glibc
import Processes
import TestSupport

extension Scenario {
    /// Scenarios in which servers and clients die, hang or are suspended.
    static let processes = [
        Scenario("The server is killed and started again") { site in
            await site.endServer(SIGKILL)
            try await site.startServer()
        },
        Scenario("The server is killed and stays away for 2 s") { site in
            await site.endServer(SIGKILL)
            try await site.hold(.seconds(2))
            try await site.startServer()
        },
        Scenario("The server is killed three times, and the client follows a channel", isFollowed: true) { site in
            for round in 0..<3 {
                if round > 0 { await site.clientIs("connected") }
                await site.endServer(SIGKILL)
                try await site.startServer()
            }
        },
        Scenario("The server is shut down and started again") { site in
            await site.endServer(SIGTERM)
            try await site.startServer()
        },
        Scenario("The server hangs for 0.5 s", .stays) { site in
            try await site.suspendServer(.milliseconds(500))
        },
        Scenario("The server hangs for 4 s") { site in
            try await site.suspendServer(.seconds(4))
        },
        Scenario("The client is suspended for 4 s", .stays) { site in
            site.client.signal(SIGSTOP)
            try await site.hold(.seconds(4))
            site.client.signal(SIGCONT)
        },
        Scenario("The client is suspended, and its connection reset meanwhile") { site in
            site.client.signal(SIGSTOP)
            try await site.hold(.seconds(1))
            site.proxy.cutAll()
            try await site.hold(.seconds(1))
            site.client.signal(SIGCONT)
        },
    ]
}
