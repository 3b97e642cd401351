import PusherChannels

extension ServerMachine {
    /// A notice about a connection or a channel, for a log or a test.
    public enum Notice: Equatable, Sendable, CustomStringConvertible {
        /// A client was let in.
        case connected(ConnectionID, appKey: String, socketID: String)
        /// A key that no app was registered with became a new app's key.
        case newApp(key: String)
        /// A client was turned away.
        case refused(ConnectionID, code: UInt16, reason: String)
        /// A client disconnected, or its connection was closed.
        case disconnected(ConnectionID)
        /// A client subscribed; `userID` is set on presence channels.
        case subscribed(ConnectionID, channel: String, userID: String?)
        /// A client's user was signed in.
        case signedIn(ConnectionID, userID: String)
        /// A client's subscription to a channel was refused.
        case subscriptionRefused(ConnectionID, channel: String, reason: String)
        /// A client left a channel.
        case unsubscribed(ConnectionID, channel: String)
        /// A client's event was passed on.
        case clientEvent(ConnectionID, channel: String, event: String, receivers: Int)
        /// A client got a `pusher:error` in reply to a message.
        case protocolError(ConnectionID, message: String)
        /// A client of Sockudo's protocol V2 asked for a replay in a way that loses or repeats events, or that may end the
        /// connection.
        case doubtfulReplay(ConnectionID, reason: String)
        /// An event was published over the HTTP API or by the test.
        case published(channel: String, event: String, receivers: Int)

        /// The test published an event that no backend could publish. It was sent to nobody.
        case publishRefused(channel: String, event: String, reason: String)

        /// One line for a log. Text from clients can't start a new line or control a terminal.
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
            case .doubtfulReplay(let id, let reason): "\(id) asked for a replay \(reason.inLogLine())"
            case .published(let channel, let event, let receivers):
                "published \(event.inLogLine()) on \(channel.inLogLine()) to \(receivers == 0 ? "nobody" : "\(receivers)")"
            case .publishRefused(let channel, let event, let reason):
                "did not publish \(event.inLogLine()) on \(channel.inLogLine()): \(reason.inLogLine())"
            }
        }

        /// Indicates whether the notice explains something that can't be seen in the client's own actions.
        var isWorthTelling: Bool {
            switch self {
            case .newApp, .refused, .subscriptionRefused, .protocolError, .doubtfulReplay, .publishRefused,
                .published(_, _, receivers: 0):
                true
            case .connected, .disconnected, .subscribed, .signedIn, .unsubscribed, .clientEvent, .published: false
            }
        }
    }
}
