/// The reason why a channel is not subscribed.
struct SubscriptionFailure: Error, Equatable, Sendable {
    let error: PusherError
    /// The response of the authorization endpoint, if it was asked.
    var authorization: AuthorizationFailure?
    /// Indicates whether it was reported already, for the attempt before. Only the log and the traces have it again.
    var isRepeated = false
}

extension ConnectionMachine {
    /// Reports a failure to the user in two ways: as the protocol's event for it, even if the client noticed the failure itself,
    /// and as a call.
    mutating func report(_ failure: SubscriptionFailure, of channel: Name) {
        if failure.isRepeated { return outputs.append(.deliver(.subscriptionFailed(channel: channel, failure))) }
        var data: [Name: JSONValue] = ["type": .string(failure.type), "error": .string(failure.error.message)]
        data["status"] = failure.error.code.map { .integer($0) }
        let event = Envelope(event: "pusher:subscription_error", channel: channel, data: JSONValue.object(data).text)
        outputs.append(.deliver(.event(event)))
        outputs.append(.deliver(.subscriptionFailed(channel: channel, failure)))
    }
}

extension SubscriptionFailure {
    fileprivate var type: String {
        switch error.kind {
        case .authorization: "AuthError"
        default: "SubscriptionError"
        }
    }
}
