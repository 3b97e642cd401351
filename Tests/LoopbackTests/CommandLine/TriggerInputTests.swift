#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

/// `trigger --batch` at the end of a pipe, and input that can't be read.
@Suite(.serialized, .watchdog) struct TriggerInputTests {
    private func line(_ number: Int) -> String { #"{"channel":"c-\#(number)","event":"e"}"# + "\n" }

    private func channels(_ request: RecordedRequest) -> [String] {
        request.json?["batch"]?.arrayValue?.compactMap { $0["channel"]?.stringValue } ?? []
    }

    @Test func `The trigger command publishes a batch's line at once and digit for digit if no other line follows`()
        async throws
    {
        try await withServer { server in
            let input = try NamedPipe(O_RDWR)
            let trigger = try Command(["trigger", "--batch"], environment: server.environment, input: input.path)
            let data = #"{"id": 12345678901234567890,"price":1.10}"#
            for number in 1...2 {
                input.write(#"{"channel":"c-\#(number)","event":"e","data":\#(data)}"# + "\n")
                let request = try await server.nextRequest()
                #expect(channels(request) == ["c-\(number)"])
                #expect(request.json?["batch"]?.arrayValue?.first?["data"]?.stringValue == data)
            }
            trigger.signal(SIGTERM)
            #expect(await trigger.end() == .exit(128 + SIGTERM), "\(trigger.errors.all)")
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `Lines that the trigger command has read are published before a signal ends the command`(signal: Int32) async throws {
        let (server, input, gate) = (try await LocalServer.start(), try NamedPipe(O_RDWR), Gate())
        var held = StubResponse.json([String: String]())
        held.gate = gate
        server.stub("POST /apps/1/batch_events", held, .json([String: String]()))
        input.write((1...12).map(line).joined() + #"{"channel":"#)
        let trigger = try Command(["trigger", "--batch"], environment: server.environment, input: input.path)
        #expect(channels(try await server.nextRequest()) == (1...10).map { "c-\($0)" })
        trigger.signal(signal)
        gate.open()
        #expect(channels(try await server.nextRequest()) == ["c-11", "c-12"])
        #expect(await trigger.end() == .exit(128 + signal), "\(trigger.errors.all)")
        await server.stop()
    }

    /// A line that isn't UTF-8 isn't repaired, because that would publish a different text. The longest line is blank.
    @Test(arguments: [
        (#"{"channel":"a","event":"e"}"# + "\nnonsense", "line 2 isn't a JSON object with a channel and an event"),
        (
            #"{"channel":"a","event":"e","info":"size"}"#,
            "line 1 has an info other than user_count, subscription_count and cache"
        ),
        (#"{"channel":"a","event":"e","info":["user_count"]}"#, "the info of line 1 isn't a string"),
        (#"{"channel":"a","event":"e","socket_id":123.456}"#, "the socket_id of line 1 isn't a string"),
        ("\n{\"channel\":\"a\",\"event\":\"BAD\"}\n", "line 2 isn't UTF-8"),
        ("LONGEST\nLONGEST \n", "line 2 has more than 1048576 bytes"),
        ("LONGEST\nLONGEST ", "line 2 has more than 1048576 bytes"),
    ])
    func `The trigger command names the line of a batch that isn't an event, and publishes nothing`(
        input: String, problem: String
    ) async throws {
        let longest = String(repeating: " ", count: 1 << 20)
        var bytes = Data(input.replacing("LONGEST", with: longest).utf8)
        if let bad = bytes.firstRange(of: Data("BAD".utf8)) { bytes.replaceSubrange(bad, with: [0xFF]) }
        let run = try await Command.run(["trigger", "--batch"], input: bytes)
        #expect(run == Command.Run(end: .exit(1), errors: ["Error: \(problem); nothing was published"]))
    }

    @Test func `The trigger command gives up on an endless line after 1 MiB`() async throws {
        let run = try await Command.Run(Command(["trigger", "--batch"], input: "/dev/zero"))
        let error = "Error: line 1 has more than 1048576 bytes; nothing was published"
        #expect(run == Command.Run(end: .exit(1), errors: [error]))
    }

    /// A file that the system opens for itself might take the place of the closed input before it is read.
    @Test func `A command whose standard input is closed gets /dev/null in its place`() async throws {
        let serve = try Command.inShell("serve --port 0", "<&-")
        _ = await serve.output.next()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(serve.id)/fd/0") == "/dev/null")
        serve.signal(SIGTERM)
        _ = await serve.end()
    }

    @Test(arguments: ["trigger --batch", "webhook verify --signature x"], ["<&-", "</"])
    func `A command that can't read its standard input ends with status 1 and the reason`(line: String, redirection: String)
        async throws
    {
        let run = try await Command.Run(Command.inShell(line, redirection))
        #expect(run.failed(1, "standard input can't be read: ") && run.errors.count == 1, "\(run)")
    }
}
#endif
