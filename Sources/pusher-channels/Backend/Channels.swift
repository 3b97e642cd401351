import ArgumentParser
import PusherChannels

struct Channels: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the channels that have subscribers, or what is known of some.",
        discussion: """
            Prints a JSON object a line: channel, and where the server tells it occupied, user_count, subscription_count, cache.

            \(Status.text)
            """)

    @Argument(help: "The channels to ask about; all that have subscribers where none is named.")
    var channels: [String] = []

    @Option(help: "Only channels whose names begin so.")
    var prefix: String?

    @Option(help: "What to tell of each channel: user_count, subscription_count, cache, with commas between them.")
    var info: InfoOption?

    @OptionGroup var backend: BackendOptions

    func validate() throws {
        if prefix != nil, !channels.isEmpty { throw ValidationError("give channels or --prefix, not both") }
        let isOfPresence =
            channels.isEmpty
            ? prefix?.hasPrefix("presence-") == true : channels.allSatisfy { ChannelName(Name($0)).kind == .presence }
        if info?.attributes.contains(.userCount) == true, !isOfPresence {
            throw ValidationError("--info user_count takes presence channels, or a --prefix that begins with presence-")
        }
    }

    func run() async throws {
        try await Status.of {
            let api = try backend.makeAPI()
            let attributes = info?.attributes ?? []
            if channels.isEmpty {
                for channel in try await api.channels(withPrefix: prefix, info: attributes) { output(channel.line) }
            }
            for channel in channels { output(try await api.channel(channel, info: attributes).line) }
        }
    }
}

struct Users: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the ids of the users in a presence channel, one a line.", discussion: Status.text)

    @Argument(help: "The presence channel.")
    var channel: String

    @OptionGroup var backend: BackendOptions

    func run() async throws {
        try await Status.of {
            for user in try await backend.makeAPI().users(of: channel) { output(user.onOneLine) }
        }
    }
}

struct Terminate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Close all connections of a user who has signed in.", discussion: Status.text)

    @Argument(help: "The user's id.")
    var userID: String

    @OptionGroup var backend: BackendOptions

    func run() async throws {
        try await Status.of { try await backend.makeAPI().terminateConnections(ofUser: userID) }
    }
}
