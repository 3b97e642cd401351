/// The reason why a channel is not subscribed.
struct SubscriptionFailure: Error, Equatable, Sendable {
    let error: PusherError
    /// The response of the authorization endpoint, if it was asked.
    var authorization: AuthorizationFailure?
}

extension SubscriptionFailure {
    /// Reports the failure to the user in two ways: as the protocol's event for it, even if the client noticed the failure
    /// itself, and as a call.
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
