/// One request for an authorization, from the command to its response. It can be canceled before there is a request to cancel.
final class AuthorizationCall: Sendable {
    private enum State {
        case waiting
        case asked(AuthCall.Cancel)
        case over
    }

    let id: AuthorizationID
    let session: any HTTPSession
    let channelUser: (@Sendable () -> PusherPresenceChannelMember)?
    private let state = Locked(State.waiting)

    init(_ id: AuthorizationID, _ session: any HTTPSession, _ channelUser: (@Sendable () -> PusherPresenceChannelMember)?) {
        (self.id, self.session, self.channelUser) = (id, session, channelUser)
    }

    /// Keeps the closure that cancels the request, unless the response has come already.
    func keep(_ cancel: @escaping AuthCall.Cancel) {
        state.withLock { if case .waiting = $0 { $0 = .asked(cancel) } }
    }

    /// Ends the call; returns the closure that cancels its request, or nil if it had ended: a response may come twice, and late.
    func end() -> AuthCall.Cancel? {
        state.withLock { state in
            defer { state = .over }
            return switch state {
            case .waiting: {}
            case .asked(let cancel): cancel
            case .over: nil
            }
        }
    }
}
