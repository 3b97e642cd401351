#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

/// `trigger --batch` at the end of a pipe, and input that can't be read.
@Suite(.serialized) struct TriggerInputTests {
    private func line(_ number: Int) -> String { #"{"channel":"c-\#(number)","event":"e"}"# + "\n" }

    private func channels(_ request: RecordedRequest) -> [String] {
        request.json?["batch"]?.arrayValue?.compactMap { $0["channel"]?.stringValue } ?? []
    }

    @Test(arguments: [
        (#"{"channel":"a","event":"e"}"# + "\nnonsense", "line 2 isn't a JSON object with a channel and an event"),
        (#"{"channel":"a","event":"e","info":"size"}"#, "line 1 has an info other than"),
        (#"{"channel":"a","event":"e","info":["user_count"]}"#, "the info of line 1 isn't a string"),
        (#"{"channel":"a","event":"e","socket_id":123.456}"#, "the socket_id of line 1 isn't a string"),
    ])
    func `The trigger command names the line of a batch that isn't an event`(input: String, problem: String) async throws {
        try await withWatchdog {
            let pipe = try NamedPipe(O_RDWR)
            let trigger = try Command(["trigger", "--batch"], input: pipe.path)
            pipe.write(input + "\n")
            try await trigger.errors.next(containing: problem)
            #expect(await trigger.end() == .exit(1))
        }
    }

    /// The command waits neither for ten lines nor for the end of the pipe.
    @Test func `The trigger command publishes a batch's line at once if no other line follows`() async throws {
        try await withWatchdog {
            let (server, input) = (try await LocalServer.start(), try NamedPipe(O_RDWR))
            let trigger = try Command(["trigger", "--batch"], environment: server.environment, input: input.path)
            for number in 1...2 {
                input.write(line(number))
                #expect(channels(try await server.nextRequest()) == ["c-\(number)"])
            }
            trigger.signal(SIGTERM)
            #expect(await trigger.end() == .exit(128 + SIGTERM), "\(trigger.errors.all)")
            await server.stop()
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `Lines that the trigger command has read are published before a signal ends the command`(signal: Int32) async throws {
        try await withWatchdog {
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
    }

    @Test func `The trigger command publishes numbers in a line's data digit for digit`() async throws {
        try await withWatchdog {
            let (server, input) = (try await LocalServer.start(), try NamedPipe(O_RDWR))
            let trigger = try Command(["trigger", "--batch"], environment: server.environment, input: input.path)
            input.write(#"{"channel":"c","event":"e","data":{"id": 12345678901234567890,"price":1.10}}"# + "\n")
            let request = try await server.nextRequest()
            #expect(
                request.json?["batch"]?.arrayValue?.first?["data"]?.stringValue == #"{"id": 12345678901234567890,"price":1.10}"#)
            trigger.signal(SIGTERM)
            #expect(await trigger.end() == .exit(128 + SIGTERM), "\(trigger.errors.all)")
            await server.stop()
        }
    }

    /// Returns the errors that `trigger --batch` prints for an input that ends.
    private func errors(of input: Data) async throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("input-\(UUID())")
        try input.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await errors(ofFile: file.path)
    }

    private func errors(ofFile path: String) async throws -> [String] {
        let trigger = try Command(["trigger", "--batch"], input: path)
        #expect(await trigger.end() == .exit(1))
        return await trigger.errors.toEnd()
    }

    /// The line isn't repaired, because that would publish a different text.
    @Test func `The trigger command refuses a line that isn't UTF-8, and publishes nothing`() async throws {
        try await withWatchdog {
            let input = Data("\n{\"channel\":\"a\",\"event\":\"".utf8) + Data([0xFF]) + Data("\"}\n".utf8)
            let said = try await errors(of: input)
            #expect(said == ["Error: line 2 isn't UTF-8; nothing was published"])
        }
    }

    /// The first line has the maximum length and is blank.
    @Test(arguments: ["\n", ""])
    func `The trigger command refuses a line of more than 1 MiB, and publishes nothing`(end: String) async throws {
        try await withWatchdog {
            let longest = String(repeating: " ", count: 1 << 20)
            let input = Data((longest + "\n" + longest + " " + end).utf8)
            let said = try await errors(of: input)
            #expect(said == ["Error: line 2 has more than 1048576 bytes; nothing was published"])
        }
    }

    @Test func `The trigger command gives up on an endless line after 1 MiB`() async throws {
        try await withWatchdog {
            let said = try await errors(ofFile: "/dev/zero")
            #expect(said == ["Error: line 1 has more than 1048576 bytes; nothing was published"])
        }
    }

    /// A file that the system opens for itself might take the place of the closed input before it is read.
    @Test func `A command whose standard input is closed gets /dev/null in its place`() async throws {
        try await withWatchdog {
            let serve = try Command(program: "/bin/sh", ["-c", #"exec "$0" serve --port 0 <&-"#, Command.program()])
            _ = await serve.output.next()
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(serve.id)/fd/0") == "/dev/null")
            serve.signal(SIGTERM)
            _ = await serve.end()
        }
    }

    @Test(arguments: [["trigger", "--batch"], ["webhook", "verify", "--signature", "x"]])
    func `A command that can't read its standard input ends with status 1 and the reason`(arguments: [String]) async throws {
        try await withWatchdog {
            for redirection in ["<&-", "</"] {
                let command = try Command(
                    program: "/bin/sh", ["-c", #"exec "$0" "$@" "# + redirection, Command.program()] + arguments,
                    environment: ["PUSHER_CONFIG": "/dev/null"])
                #expect(await command.end() == .exit(1), "\(redirection)")
                let errors = await command.errors.toEnd()
                #expect(
                    errors.count == 1 && errors.first?.hasPrefix("Error: standard input can't be read: ") == true, "\(errors)")
            }
        }
    }
}
#endif
