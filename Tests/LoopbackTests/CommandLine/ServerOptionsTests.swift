#if os(Linux)
import ArgumentParser
import PusherChannels
import Testing

@testable import pusher_channels

/// The server that the options select together with the environment and the file.
@Suite struct ServerOptionsTests {
    private func options(_ arguments: String...) throws -> ServerOptions {
        try ServerOptions.parse(arguments + ["--config", "/dev/null"])
    }

    private func settings(_ variables: [String: String], file: [Setting: String] = [:]) -> Settings {
        Settings(variables: variables, file: ConfigurationFile(values: file))
    }

    private static let own = ["PUSHER_HOST": "a.example", "PUSHER_PORT": "4000", "PUSHER_TLS": "0"]
    private static let hosted = ["PUSHER_CLUSTER": "us2", "PUSHER_PORT": "4000", "PUSHER_TLS": "0"]

    @Test(
        arguments: [
            ([], own, [:], PusherHost.host("a.example"), 4000, false),
            (["--cluster", "eu"], own, [:], .cluster("eu"), nil, true),
            (["--host", "b.example"], own, [:], .host("b.example"), 6001, false),
            (["--host", "b.example"], ["PUSHER_HOST": "a.example", "PUSHER_TLS": "1"], [:], .host("b.example"), 6001, false),
            (["--host", "b.example", "--port", "5000", "--tls"], own, [:], .host("b.example"), 5000, true),
            (["--port", "5000"], own, [:], .host("a.example"), 5000, false),
            (["--tls"], own, [:], .host("a.example"), 4000, true),
            ([], hosted, [:], .cluster("us2"), 4000, false), (["--cluster", "eu"], hosted, [:], .cluster("eu"), nil, true),
            ([], ["PUSHER_PORT": "4000", "PUSHER_TLS": "1"], [:], .host("127.0.0.1"), 4000, true),
            ([], ["PUSHER_CLUSTER": "eu"], [.host: "c.example", .port: "4000", .tls: "0"], .cluster("eu"), nil, true),
            ([], ["PUSHER_HOST": "a.example"], [.cluster: "eu", .tls: "1"], .host("a.example"), 6001, false),
            ([], ["PUSHER_PORT": "5000"], [.host: "c.example", .port: "4000", .tls: "1"], .host("c.example"), 5000, true),
            ([], [:], [.host: "c.example", .port: "4000"], .host("c.example"), 4000, false),
            ([], ["PUSHER_HOST": "a.example"], [.port: "4000"], .host("a.example"), 6001, false),
            (["--cluster", "eu"], [:], [.host: "c.example", .port: "4000", .tls: "0"], .cluster("eu"), nil, true),
        ] as [([String], [String: String], [Setting: String], PusherHost, Int?, Bool)])
    func `Port and TLS come from the source of the server's name, unless a higher source has them`(
        arguments: [String], variables: [String: String], file: [Setting: String], location: PusherHost, port: Int?, usesTLS: Bool
    ) throws {
        let options = try ServerOptions.parse(arguments + ["--config", "/dev/null"])
        let settings = settings(variables, file: file)
        #expect(options.location(settings) == location)
        #expect(options.portToUse(settings) == port)
        #expect(options.usesTLS(settings) == usesTLS)
    }

    @Test func `A PUSHER_PORT that Kubernetes sets is ignored`() throws {
        let settings = settings(["PUSHER_PORT": "tcp://10.96.0.12:6001"])
        try options().validateVariables(in: settings)
        #expect(try options().portToUse(settings) == 6001)
    }

    /// To choose one of them could mean publishing to another server than the one that was meant.
    @Test func `A host and a cluster in the environment exclude each other unless an option decides`() throws {
        let both = settings(["PUSHER_HOST": "a.example", "PUSHER_CLUSTER": "eu"])
        #expect(throws: ValidationError.self) { try options().validateVariables(in: both) }
        try options("--host", "b.example").validateVariables(in: both)
        try options("--cluster", "eu").validateVariables(in: both)
        try options().validateVariables(in: settings(["PUSHER_HOST": "a.example", "PUSHER_CLUSTER": ""]))
    }

    @Test func `An environment variable is checked only if no option overrides the variable`() throws {
        let wrong = settings(["PUSHER_HOST": "http://a.example", "PUSHER_PORT": "six", "PUSHER_TLS": "perhaps"])
        #expect(throws: ValidationError.self) { try options().validateVariables(in: wrong) }
        try options("--host", "b.example").validateVariables(in: wrong)
        try options("--cluster", "eu").validateVariables(in: wrong)
        for name in ["PUSHER_PORT", "PUSHER_TLS"] {
            let wrong = settings([name: "perhaps"])
            #expect(throws: ValidationError.self) { try options().validateVariables(in: wrong) }
            try options("--port", "1", "--no-tls").validateVariables(in: wrong)
        }
    }

    @Test(arguments: [
        ["--cluster", ""], ["--cluster", "eu.pusher.com"], ["--port", "0"], ["--port", "65536"], ["--host", ""],
        ["--host", "a.example/"], ["--host", "[::1]:6001"], ["--host", "a b"], ["--host", "ann@a.example"],
    ])
    func `An option with an invalid host, port or cluster is refused`(arguments: [String]) {
        #expect(throws: (any Error).self) { try ServerOptions.parse(arguments + ["--config", "/dev/null"]) }
    }

    @Test(arguments: ["a.example", "127.0.0.1", "::1", "[::1]", "localhost", "bücher.example"])
    func `A host option may be a name or an IP address, with or without brackets`(host: String) throws {
        #expect(try options("--host", host).host == host)
    }
}
#endif
