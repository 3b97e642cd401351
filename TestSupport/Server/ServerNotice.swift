import PusherChannels

extension ServerMachine {
    /// News about a connection or a channel, for a log or a test.
    public enum Notice: Equatable, Sendable, CustomStringConvertible {
        /// A client was let in.
        case connected(ConnectionID, appKey: String, socketID: String)
        /// A key came that no app was registered with, and became an app's.
        case newApp(key: String)
        /// A client was turned away.
        case refused(ConnectionID, code: UInt16, reason: String)
        /// A client has gone, or was closed.
        case disconnected(ConnectionID)
        /// A client subscribed, `userID` being set on presence channels.
        case subscribed(ConnectionID, channel: String, userID: String?)
        /// A client's user was signed in.
        case signedIn(ConnectionID, userID: String)
        /// A client was not let into a channel.
        case subscriptionRefused(ConnectionID, channel: String, reason: String)
        /// A client left a channel.
        case unsubscribed(ConnectionID, channel: String)
        /// A client's event was passed on.
        case clientEvent(ConnectionID, channel: String, event: String, receivers: Int)
        /// A client sent something that was answered with `pusher:error`.
        case protocolError(ConnectionID, message: String)
        /// An event was published over the HTTP API or by the test.
        case published(channel: String, event: String, receivers: Int)

        /// The test published what no backend could have; nobody was sent it.
        case publishRefused(channel: String, event: String, reason: String)

        /// One line for a log, in which nothing that clients send begins another or moves a terminal.
        public var description: String {
            switch self {
            case .connected(let id, let appKey, let socketID): "\(id) connected to \(appKey.inLogLine()) as \(socketID)"
            case .newApp(let key): "takes the key \(key.inLogLine()) for that of another app, and checks no signatures of it"
            case .refused(let id, let code, let reason): "\(id) refused with \(code): \(reason.inLogLine())"
            case .disconnected(let id): "\(id) disconnected"
            case .subscribed(let id, let channel, let userID):
                "\(id) subscribed to \(channel.inLogLine())" + (userID.map { " as \($0.inLogLine())" } ?? "")
            case .signedIn(let id, let userID): "\(id) signed in as \(userID.inLogLine())"
            case .subscriptionRefused(let id, let channel, let reason):
                "\(id) not let into \(channel.inLogLine()): \(reason.inLogLine())"
            case .unsubscribed(let id, let channel): "\(id) left \(channel.inLogLine())"
            case .clientEvent(let id, let channel, let event, let receivers):
                "\(id) sent \(event.inLogLine()) on \(channel.inLogLine()) to \(receivers)"
            case .protocolError(let id, let message): "\(id) was told: \(message.inLogLine())"
            case .published(let channel, let event, let receivers):
                "published \(event.inLogLine()) on \(channel.inLogLine()) to \(receivers)"
            case .publishRefused(let channel, let event, let reason):
                "did not publish \(event.inLogLine()) on \(channel.inLogLine()): \(reason.inLogLine())"
            }
        }

        /// Indicates whether it explains what a client can't see in its own doings.
        var isWorthTelling: Bool {
            switch self {
            case .newApp, .refused, .subscriptionRefused, .protocolError, .publishRefused: true
            case .connected, .disconnected, .subscribed, .signedIn, .unsubscribed, .clientEvent, .published: false
            }
        }
    }
}
