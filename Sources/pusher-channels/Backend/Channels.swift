import ArgumentParser
import PusherChannels

struct Channels: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the channels that have subscribers, or describe some channels.",
        discussion: """
            Prints one JSON object per line: channel, and, if the server has them, occupied, user_count, subscription_count, cache.

            \(Status.text)
            """)

    @Argument(help: "The channels to describe; by default all that have subscribers.")
    var channels: [String] = []

    @Option(help: "List only channels whose names have this prefix.")
    var prefix: String?

    @Option(help: "The information to print for each channel: user_count, subscription_count, cache, separated by commas.")
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
        let api = try backend.makeAPI()
        let attributes = info?.attributes ?? []
        if channels.isEmpty {
            let all = try await api.channels(withPrefix: prefix, info: attributes)
            return all.print(asked: all.isEmpty ? [] : attributes)
        }
        var told: [PusherChannelInfo] = []
        for channel in channels { told.append(try await api.channel(channel, info: attributes)) }
        told.print(asked: attributes)
    }
}

struct Users: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the ids of the users in a presence channel, one per line.", discussion: Status.text)

    @Argument(help: "The presence channel.")
    var channel: String

    @OptionGroup var backend: BackendOptions

    func run() async throws {
        for user in try await backend.makeAPI().users(of: channel) { output(user.onOneLine) }
    }
}

struct SendToUser: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send-to-user", abstract: "Publish an event to all connections of a user who has signed in.",
        discussion: Status.text)

    @Argument(help: "The user's id.")
    var userID: String

    @Argument(help: "The event's name.")
    var event: String

    @Argument(help: "The event's data, sent as it is; put -- before it if it begins with a hyphen.")
    var data: String

    @OptionGroup var backend: BackendOptions

    func run() async throws {
        do {
            try await backend.makeAPI().sendToUser(userID, eventName: event, data: data)
        } catch let error as PusherError where error.mayHaveBeenCarriedOut {
            throw Failure("\(error)")  // As with `trigger`: another attempt might publish it twice.
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
        try await backend.makeAPI().terminateConnections(ofUser: userID)
    }
}
