import ArgumentParser
import PusherChannels

/// The requested attributes of channels, such as `user_count,cache`.
struct InfoOption: ExpressibleByArgument {
    static let defaultCompletionKind = CompletionKind.list(["user_count", "subscription_count", "cache"])

    let attributes: [PusherChannelInfo.Attribute]

    init?(argument: String) {
        let names = argument.split(separator: ",")
        attributes = names.compactMap { PusherChannelInfo.Attribute(rawValue: String($0)) }
        guard attributes.count == names.count else { return nil }
    }
}

extension [PusherChannelInfo] {
    /// Prints a line for each channel, and says on standard error what the server was asked for and told of no channel.
    func print(asked attributes: [PusherChannelInfo.Attribute]) {
        for channel in self { output(channel.line) }
        let missing = attributes.filter { attribute in
            !contains {
                switch attribute {
                case .userCount: $0.userCount != nil
                case .subscriptionCount: $0.subscriptionCount != nil
                case .cache: $0.cachedEvent != nil
                }
            }
        }
        if missing.isEmpty { return }
        let names = missing.map(\.rawValue).joined(separator: ", ")
        note("the server gave no \(names): the channels have none, or this server doesn't tell, or its app must allow it")
    }
}

extension PusherChannelInfo {
    /// The channel as one line of JSON, without characters that control a terminal.
    var line: String {
        var members: [Name: JSONValue] = ["channel": .string(name)]
        members["occupied"] = isOccupied.map { .bool($0) }
        members["user_count"] = userCount.map { .integer($0) }
        members["subscription_count"] = subscriptionCount.map { .integer($0) }
        members["cache"] = cachedEvent.map { .string($0.data) }
        return JSONValue.object(members).text.asSafeJSON
    }
}
