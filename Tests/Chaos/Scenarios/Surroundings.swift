import Processes
import TestSupport

extension Scenario {
    /// Scenarios about the other things that a connection needs: certificates, an authorization endpoint, names, a clock.
    static let surroundings =
        [
            Scenario("The server is back with a certificate that nobody trusts, for 1 s", ways: [.tls]) { site in
                try await site.replaceFront(trusted: false)
            },
            Scenario("The server is back with an expired certificate, for 1 s", ways: [.tls]) { site in
                try await site.replaceFront(flaw: .expired)
            },
            Scenario("The server is back with another host's certificate, for 1 s", ways: [.tls]) { site in
                try await site.replaceFront(flaw: .wrongHost)
            },
            Scenario("A gateway answers 503 for 1 s") { site in
                let gateway = try await LocalServer.start()
                try gateway.inject(.upgradeRefused(status: 503))
                try await site.replaceFront(to: gateway.port)
                await gateway.stop()
            },
        ] + authorization + [
            Scenario("The server's name can't be found for 1 s") { site in
                try site.world.setNames(found: false)
                site.proxy.cutAll()
                try await site.hold(.seconds(1))
                try site.world.setNames(found: true)
            },
            Scenario("The clock is put forward by an hour", .stays) { site in
                try await site.setClock(ahead: 3600)
                try await site.hold(.seconds(1))
            },
            Scenario("The clock is put forward by an hour, and the connection reset") { site in
                try await site.setClock(ahead: 3600)
                site.proxy.cutAll()
            },
            Scenario("The clock is put back by half an hour, and the connection reset") { site in
                try await site.setClock(ahead: -1800)
                site.proxy.cutAll()
            },
        ]

    /// Scenarios in which the authorization endpoint fails while its responses are needed.
    private static let authorization = [
        Scenario("The authorization endpoint answers 503 for 1 s") { site in
            try await site.reset(whileAuthorization: .http(503))
        },
        Scenario("The authorization endpoint answers with an HTML page for 1 s") { site in
            try await site.reset(whileAuthorization: StubResponse(text: "<html>Please log in</html>", contentType: "text/html"))
        },
        Scenario("The authorization endpoint cuts connections for 1 s") { site in
            try await site.reset(whileAuthorizationHas: .reset, for: .seconds(1))
        },
        Scenario("The authorization endpoint doesn't answer for 3 s") { site in
            try await site.reset(whileAuthorizationHas: .stall, for: .seconds(3))
        },
    ]
}

extension Site {
    /// Opens the client's port in front of something else for a second.
    fileprivate func replaceFront(to port: Int? = nil, flaw: CertificateAuthority.Flaw? = nil, trusted: Bool = true) async throws
    {
        try openFront(to: port, flaw: flaw, trusted: trusted)
        try await hold(.seconds(1))
        try openFront()
    }

    /// Makes the client subscribe again while the connections to the authorization endpoint have a fault.
    fileprivate func reset(whileAuthorizationHas fault: Fault, for time: Duration) async throws {
        try authFront.inject(fault)
        proxy.cutAll()
        try await hold(time)
        authFront.heal()
    }

    /// Makes the client subscribe again while the authorization endpoint sends this reply, for a second.
    fileprivate func reset(whileAuthorization reply: StubResponse) async throws {
        let stub = authServer.stub("POST /pusher/auth", reply)
        proxy.cutAll()
        try await hold(.seconds(1))
        authServer.remove(stub)
    }
}
