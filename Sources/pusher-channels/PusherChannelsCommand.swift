import ArgumentParser
import Foundation
import PusherChannels

package struct PusherChannelsCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "pusher-channels",
        abstract: "A Channels client, the calls of a backend, and a local Channels server to try them with.",
        discussion: """
            The settings of an app may come from the environment: PUSHER_APP_ID, PUSHER_KEY, PUSHER_SECRET, \
            PUSHER_ENCRYPTION_MASTER_KEY, PUSHER_AUTH_ENDPOINT, PUSHER_TIMEOUT, and PUSHER_CLUSTER or PUSHER_HOST, PUSHER_PORT and \
            PUSHER_TLS. Or from a file, one per line, with comments after #: app-id = 1, key, secret, encryption-master-key, \
            auth-endpoint, timeout, cluster or host, port, tls = 1. The file is that of --config or $PUSHER_CONFIG, or \
            pusher-channels/config in $XDG_CONFIG_HOME or ~/.config. For each setting, an option overrides the environment, which \
            overrides the file. serve and demo use neither the environment nor the file.

            \(Status.text)

            Output is colored on terminals, unless NO_COLOR is set or TERM is dumb; FORCE_COLOR colors it everywhere.

            `pusher-channels --generate-completion-script bash` (or zsh, fish) prints a completion script for that shell.
            """,
        version: libraryVersion,
        subcommands: [
            Serve.self, Listen.self, Doctor.self, Trigger.self, SendToUser.self, Channels.self, Users.self,
            Terminate.self, Auth.self, Webhook.self, Conformance.self, Bench.self, Demo.self,
        ])

    package init() {}

    package static func main() async {
        do {
            try validateArguments()
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch {
            end(with: error)
        }
    }

    /// Throws for an argument that isn't UTF-8: its repaired text would be published as a different one.
    private static func validateArguments() throws {
        for (index, argument) in CommandLine.arguments.indices.dropFirst().map({ ($0, CommandLine.unsafeArgv[$0]) }) {
            guard let argument, String(validatingCString: argument) != nil else {
                throw ValidationError("argument \(index) isn't UTF-8")
            }
        }
    }

    /// Prints an error or the help that was asked for, and ends with its status. ArgumentParser's own exit writes an error byte by
    /// byte, so that a client's log line, which another thread writes, can come in the middle.
    private static func end(with error: any Error) -> Never {
        let (text, code) = (fullMessage(for: error), Status.of(error))
        if code.isSuccess {
            output(text)
        } else if !text.isEmpty {
            note(text)
        }
        Foundation.exit(code.rawValue)
    }

    /// Opens the standard descriptors that are closed, as with `<&-`, because the next files to be opened would be taken for
    /// input or output. Reading from or writing to their replacements fails.
    package static func haveStandardDescriptors() {
        for descriptor in 0...2 where fcntl(Int32(descriptor), F_GETFD) < 0 {
            _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }
}
