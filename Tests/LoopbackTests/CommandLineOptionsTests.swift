#if os(Linux)
import ArgumentParser
import PusherChannels
import Testing

@testable import pusher_channels

/// The options and the output of commands, tested without a process.
@Suite struct CommandLineOptionsTests {
    /// Returns what is wrong with the options of `serve`; nil if they can be used.
    private func problem(_ arguments: [String]) -> String? {
        do {
            _ = try Serve.parse(arguments)
            return nil
        } catch {
            return Serve.message(for: error)
        }
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080/hook", true), ("https://a.example", true), ("HTTP://a.example", true),
        ("httpx://a.example", false), ("ftp://a.example", false), ("a.example", false), ("", false),
    ])
    func webhooksGoToAddressesOfHTTP(address: String, isTaken: Bool) {
        let problem = problem(["--webhook", address])
        #expect(problem == (isTaken ? nil : "--webhook takes an address that begins with http:// or https://"))
    }

    @Test(arguments: ["", "abc", "AAAA"])
    func aMasterKeyThatIsNoneIsRefused(key: String) {
        #expect(problem(["--encryption-master-key", key]) == "--encryption-master-key takes 32 bytes in base64")
    }

    /// Between tokens, an escape would make the JSON invalid; within strings, it means the same character.
    @Test(arguments: [
        ("{\r\n\t\"a\": 1\n}", "{   \"a\": 1 }"),
        ("{\"a\":\"\u{7F}\u{9B}\u{202E}\u{E9}\"}", #"{"a":"\u007f\u009b\u202eé"}"#),
        ("{\"\u{200E}\":\"\u{E0041}\"}", #"{"\u200e":"\udb40\udc41"}"#),
        (#"{"a":"\n"}"#, #"{"a":"\n"}"#),
    ])
    func jsonMeansTheSameOnATerminal(json: String, line: String) throws {
        #expect(json.asSafeJSON == line)
        #expect(try JSONValue(parsing: json.asSafeJSON) == JSONValue(parsing: json))
    }
}
#endif
