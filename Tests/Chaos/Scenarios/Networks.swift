import Processes
import TestSupport

extension Scenario {
    /// Scenarios that disturb the bytes in transit.
    static let networks = [
        Scenario("The connection is reset") { site in
            site.proxy.cutAll()
        },
        Scenario("The connection is reset five times in a row") { site in
            for _ in 0..<5 {
                site.proxy.cutAll()
                for state in ["connecting", "connected"] { await site.clientIs(state) }
            }
        },
        Scenario("The server's side is closed without a close frame") { site in
            try site.injectNow(.halfClose)
        },
        Scenario("The connection ends in the middle of a frame") { site in
            try site.proxy.inject(.truncate(after: .bytes(3000)), onConnection: site.proxy.connectionCount + 1)
            site.proxy.cutAll()
            for state in ["connecting", "connected", "connecting"] { await site.clientIs(state) }
        },
        Scenario("The connection is there, but nothing comes any more") { site in
            try site.injectNow(.stall)
        },
        Scenario("Nothing comes for 0.5 s", .stays) { site in
            try site.injectNow(.stall)
            try await site.hold(.milliseconds(500))
            site.proxy.heal()
        },
        Scenario("Nothing comes on any connection for 4 s") { site in
            try site.proxy.inject(.stall)
            try await site.hold(.seconds(4))
            site.proxy.heal()
        },
        Scenario("Everything comes in pieces of 100 bytes", .stays) { site in
            try site.proxy.inject(.dribble(bytes: 100, every: .milliseconds(1)))
            try await site.hold(.seconds(1))
        },
        Scenario("A connection is reset where everything comes in pieces of 100 bytes") { site in
            try site.proxy.inject(.dribble(bytes: 100, every: .milliseconds(1)))
            site.proxy.cutAll()
        },
        Scenario("Everything takes 0.2 s longer", .stays) { site in
            try site.proxy.inject(.latency(.milliseconds(200)))
            try await site.hold(.seconds(1))
            site.proxy.heal()
        },
        Scenario("The port is closed for 2 s") { site in
            site.closeFront()
            try await site.hold(.seconds(2))
            try site.openFront()
        },
    ]
}
