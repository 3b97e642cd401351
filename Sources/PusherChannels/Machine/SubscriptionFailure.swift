/// The reason why a channel is not subscribed.
struct SubscriptionFailure: Error, Equatable, Sendable {
    let error: PusherError
    /// The response of the authorization endpoint, where it was asked.
    var authorization: AuthorizationFailure?
}

extension SubscriptionFailure {
    /// Tells the user: as the event that the protocol has for it, whoever noticed the failure, and as a call.
    func report(channel: Name, into effects: inout [Effect]) {
        var data: [Name: JSONValue] = ["type": .string(type), "error": .string(error.message)]
        data["status"] = error.code.map { .integer($0) }
        let event = Envelope(event: "pusher:subscription_error", channel: channel, data: JSONValue.object(data).text)
        effects.append(.deliver(.event(event)))
        effects.append(.deliver(.subscriptionFailed(channel: channel, self)))
    }

    private var type: String {
        switch error.kind {
        case .authorization: "AuthError"
        default: "SubscriptionError"
        }
    }
}
