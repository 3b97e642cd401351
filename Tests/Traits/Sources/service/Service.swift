import Foundation
import Logging
import PusherChannels
import ServiceLifecycle

/// A service as a user would write it: it follows a channel of the server at a port, and prints each number that comes, until it
/// gets SIGTERM.
@main
enum Program {
    struct Reader: Service {
        let numbers: DecodedStream<Int>

        func run() async throws {
            write("begun")
            for try await number in numbers { write("\(try number.get())") }
            write("end")
        }
    }

    /// Writes a line without delay, however the program ends.
    static func write(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 6001
        let pusher = Pusher(
            key: "key", options: PusherClientOptions(host: .host("127.0.0.1"), port: port, useTLS: false))
        let numbers = pusher.subscribe("numbers").events(named: "number", as: Int.self)
        let group = ServiceGroup(
            services: [pusher, Reader(numbers: numbers)], gracefulShutdownSignals: [.sigterm], logger: Logger(label: "service"))
        try await group.run()
    }
}
