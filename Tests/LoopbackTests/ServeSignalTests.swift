#if os(Linux)
import Glibc
import Processes
import Testing

/// `serve`, ended as soon as it has announced itself.
@Suite(.serialized) struct ServeSignalTests {
    /// A shell can send the signal before the signal handling has begun, which happens on another thread.
    @Test func aSignalAfterTheFirstLineIsNotLost() async throws {
        try await withWatchdog {
            let input = try NamedPipe(O_RDWR)
            let script = """
                exec 3<> "$2"
                for round in 1 2 3 4 5 6; do
                    { read -r id <&3; read -r line <&3; kill -TERM $id; } &
                    /bin/sh -c 'echo $$; exec "$0" serve --port 0 --no-page --until-input-ends' "$0" < "$1" > "$2" || exit
                done
                """
            try await withThrowingTaskGroup(of: Command.End?.self) { group in
                for _ in 1...4 {
                    group.addTask {
                        let output = try NamedPipe(O_RDWR)
                        let shell = try Command(
                            program: "/bin/sh", ["-c", script, Command.program(), input.path, output.path],
                            environment: ["PUSHER_CONFIG": "/dev/null"])
                        return await shell.end()
                    }
                }
                for try await end in group { #expect(end == .exit(0)) }
            }
        }
    }
}
#endif
