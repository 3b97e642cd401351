#if os(Linux)
import Foundation
import Testing

@testable import pusher_channels

/// The lines of a configuration file, and the precedence among several sources of a setting.
@Suite struct ConfigurationFileTests {
    private func parse(_ text: String) throws -> [Setting: String] {
        try ConfigurationFile(parsing: Data(text.utf8), name: "file").values
    }

    private func problem(_ bytes: some Sequence<UInt8>) -> String? {
        do throws(ConfigurationFile.Problem) {
            _ = try ConfigurationFile(parsing: Data(bytes), name: "file")
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `A configuration file has a name and a value on each line, besides comments and blank lines`() throws {
        let text = """
            # our app
              key=abc
            secret\t=  a=b==  # not for others

            auth-endpoint = https://example.com/auth#part
            port = 6001\r
            tls = no
            """
        #expect(
            try parse(text) == [
                .key: "abc", .secret: "a=b==", .authEndpoint: "https://example.com/auth#part", .port: "6001", .tls: "no",
            ])
        #expect(try parse("") == [:])
        #expect(try parse("\u{FEFF}host = é.example") == [.host: "é.example"])
    }

    @Test(arguments: [
        ("\n\ns3cret", "file:3: a line is: name = value"),
        ("s3cret=", "file:1: there is no such name; the names are app-id, auth-endpoint, cluster, "),
        ("Key = s3cret", "file:1: there is no such name"),
        ("key = a\n# b\nkey = s3cret", "file:3: key is on line 1, too"),
        ("cluster = eu\nkey = a\nhost = s3cret", "file:3: give host or cluster, not both: the other is on line 1"),
        ("secret = # s3cret", "file:1: secret has no value"),
        ("secret = \"s3cret\"", "file:1: write the value without quotation marks"),
        ("encryption-master-key = s3cret", "file:1: encryption-master-key takes 32 bytes in base64"),
        ("auth-endpoint = s3cret", "file:1: auth-endpoint takes an address that begins with http:// or https://"),
        ("port = s3cret", "file:1: port takes a number from 1 to 65535"),
        ("port = 65536", "file:1: port takes a number from 1 to 65535"),
        ("tls = s3cret", "file:1: tls takes 1 or 0"),
    ])
    func `A configuration file's problem is named by its line, without the line's value`(text: String, expected: String) throws {
        let found = try #require(problem(text.utf8))
        #expect(found.hasPrefix(expected), "\(found)")
        #expect(!found.contains("s3cret"))
    }

    @Test func `A configuration file that isn't UTF-8 is refused with the number of the bad line`() {
        #expect(problem([UInt8](repeating: 0x0A, count: 4) + [0x6B, 0xFF]) == "file:5: this isn't UTF-8")
        #expect(problem([0]) == "file:1: a line is: name = value")
        #expect(problem(Array("key = a\r".utf8)) == nil)
    }

    @Test func `A setting comes from the environment, or else from the file`() throws {
        let file = ConfigurationFile(values: [.key: "file", .host: "file", .secret: "file"])
        let settings = Settings(
            variables: ["PUSHER_KEY": "variable", "PUSHER_SECRET": "", "PUSHER_CLUSTER": "eu", "KEY": "another"], file: file)
        #expect(settings[.key] == "variable")
        #expect(settings[.secret] == "file")
        #expect(settings[.appID] == nil)
        let location = try #require(settings.first(of: [.host, .cluster]))
        #expect(location == (.cluster, "eu"))
        #expect(settings.first(of: [.port, .tls]) == nil)
    }

    /// In addition there is the time-out, which isn't a property of any server.
    @Test func `Each setting has an environment variable whose name begins with PUSHER_`() {
        #expect(
            Setting.allCases.map(\.variable) == [
                "PUSHER_APP_ID", "PUSHER_AUTH_ENDPOINT", "PUSHER_CLUSTER", "PUSHER_ENCRYPTION_MASTER_KEY", "PUSHER_HOST",
                "PUSHER_KEY", "PUSHER_PORT", "PUSHER_SECRET", "PUSHER_TIMEOUT", "PUSHER_TLS",
            ])
    }

    /// A directory that isn't absolute is ignored, as the specification of these directories requires.
    @Test(arguments: [
        (["PUSHER_CONFIG": "a", "HOME": "/home/ann"], "a", true),
        (["PUSHER_CONFIG": "", "XDG_CONFIG_HOME": "/x", "HOME": "/home/ann"], "/x/pusher-channels/config", false),
        (["XDG_CONFIG_HOME": "x", "HOME": "/home/ann"], "/home/ann/.config/pusher-channels/config", false),
        (["HOME": ""], nil, false),
    ])
    func `The configuration file is the one in PUSHER_CONFIG, or else the user's own`(
        variables: [String: String], path: String?, isRequired: Bool
    ) {
        let file = Settings.file(variables: variables)
        #expect(file?.path == path)
        #expect(file?.isRequired == (path == nil ? nil : isRequired))
    }
}
#endif
