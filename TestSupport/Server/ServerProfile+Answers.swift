import PusherChannels

/// What servers answer on occasions on which they differ.
extension ServerProfile {
    /// An occasion on which servers answer differently. For one that a profile doesn't name, the answer is that of the more general one,
    /// then the hosted service's.
    package enum Occasion: Hashable, Sendable {
        // Connecting
        /// No app has the key.
        case unknownKey
        /// The app is disabled.
        case disabled
        /// The app is for connections over TLS only.
        case withoutTLS
        /// The app has as many connections as it may have.
        case overQuota
        /// The server has as many connections as it can have.
        case overCapacity
        /// The client's version is no version.
        case version
        /// The path ends with `/app/`, without a key.
        case noKey
        /// The path isn't that of WebSockets.
        case otherPath
        /// The address names no version of the protocol.
        case noProtocol
        /// The address names a version of the protocol that isn't a number.
        case unreadableProtocol
        /// The address names a version of the protocol that isn't served.
        case unsupportedProtocol

        // Messages
        /// A message isn't JSON.
        case unreadable
        /// A message is JSON, but no object.
        case notAnObject
        /// A message is empty.
        case emptyMessage
        /// A message is binary.
        case binary
        /// A message names no event.
        case noEvent
        /// A message's event is no text.
        case eventNotText
        /// The server doesn't know a `pusher:` event.
        case unknownEvent
        /// A client's event is neither a `pusher:` nor a `client-` event.
        case otherEvent

        // Subscribing
        /// A subscription names no channel.
        case noChannel
        /// A subscription's data is missing.
        case noSubscriptionData
        /// A subscription's data is a text that holds JSON.
        case subscriptionDataAsText
        /// A channel's name isn't valid.
        case invalidName
        /// A channel's name is empty.
        case emptyName
        /// A channel's name begins with `#`.
        case reservedName
        /// A channel's name is too long.
        case longName
        /// A channel is a user's own, and isn't this connection's user's.
        case userChannel
        /// A channel is a cache channel with presence.
        case presenceCache
        /// A subscription's signature is wrong.
        case wrongSignature
        /// A subscription has no signature.
        case noSignature
        /// A subscription's signature is made with another key.
        case otherKey
        /// A subscription's signature is no signature.
        case garbledSignature
        /// A presence channel's `channel_data` names no user.
        case noUser
        /// A presence channel's `channel_data` is missing.
        case noChannelData
        /// A presence channel's `channel_data` isn't JSON.
        case unreadableChannelData
        /// A member's id is a number.
        case numericUserID
        /// A presence channel has too many members, or a member's data is too long.
        case memberLimit
        /// The connection is subscribed already.
        case subscribedAlready
        /// The connection is on the presence channel already.
        case presentAlready
        /// The connection unsubscribes from a channel on which it isn't.
        case notSubscribed
        /// The connection unsubscribes from a channel that nobody is on.
        case nobodySubscribed

        // Client events
        /// A client event is refused, for a reason that isn't among the following.
        case clientEvent
        /// A client event is on a public channel.
        case eventOnPublicChannel
        /// A client event is on an encrypted channel.
        case eventOnEncryptedChannel
        /// A client event is on a private cache channel.
        case eventOnCacheChannel
        /// A client event is on a channel on which its sender isn't.
        case eventWithoutSubscription
        /// A client event is too large.
        case largeEvent
        /// A client event has no data.
        case eventWithoutData

        // Users
        /// A sign-in is refused.
        case signInRefused
        /// A sign-in has no data.
        case signInWithoutData
        /// A user's connections are ended by the HTTP API.
        case terminated

        // The HTTP API's successes
        /// An event is published.
        case published
        /// A batch is published.
        case batchPublished
        /// A user's connections were ended.
        case hasTerminated

        // The HTTP API's refusals
        /// The request's signature is wrong.
        case unauthorized
        /// The request has no signature.
        case unsigned
        /// The request's key is not an app's.
        case otherAppKey
        /// The request's time is long ago.
        case oldTimestamp
        /// The request has a body, and no digest of it.
        case noDigest
        /// The request has a digest of an empty body.
        case digestOfNothing
        /// The request is a POST without a body.
        case emptyPost
        /// The app isn't there.
        case unknownApp
        /// The call isn't there.
        case unknownCall
        /// The request is a GET.
        case query
        /// The server has no batches, or the batch has the wrong length.
        case batch
        /// The batch is empty.
        case emptyBatch
        /// The body isn't JSON.
        case unreadableBody
        /// The event's name is missing.
        case noName
        /// The event's name is too long.
        case longEventName
        /// The event's data is missing.
        case noData
        /// The event's data is empty.
        case emptyData
        /// The event's data isn't a text.
        case dataNotText
        /// The event's data is too large.
        case largeData
        /// The event's channels are missing.
        case noChannels
        /// The event has too many channels.
        case manyChannels
        /// The event is for a channel with an invalid name.
        case invalidChannel
        /// The event is for a user.
        case eventForUser
        /// The event is to leave out a connection whose id is none.
        case invalidSocketID
        /// The event's key is that of a publish that is under way, or failed.
        case publishUnderWay
        /// The event's key is too long.
        case publishKey
        /// The request names an attribute that the server doesn't have, or two.
        case attribute
        /// The number of users is asked for of channels that have none.
        case userCount
        /// The number of users is asked for of all channels.
        case userCountOfAll
        /// The members of a channel without members are asked for.
        case usersOfPublicChannel
        /// The members of a channel that nobody is on are asked for.
        case usersOfNobody
        /// A channel that nobody is on is asked for.
        case unoccupied
        /// The number of connections is asked for.
        case connections
        /// A user's connections are to be ended.
        case terminate

        /// The occasion that this one is a case of.
        var general: Occasion? {
            switch self {
            case .notAnObject, .emptyMessage: .unreadable
            case .eventNotText: .noEvent
            case .noSubscriptionData, .subscriptionDataAsText: .noChannel
            case .emptyName, .reservedName, .longName: .invalidName
            case .noSignature, .otherKey, .garbledSignature: .wrongSignature
            case .noChannelData, .unreadableChannelData, .numericUserID: .noUser
            case .presentAlready: .subscribedAlready
            case .nobodySubscribed: .notSubscribed
            case .unsigned, .otherAppKey, .oldTimestamp, .noDigest: .unauthorized
            case .noName, .noData, .dataNotText: .unreadableBody
            case .emptyBatch: .batch
            case .connections, .terminate: .unknownCall
            case .userCountOfAll: .userCount
            case .signInWithoutData: .signInRefused
            case .noKey: .otherPath
            case .unreadableProtocol: .unsupportedProtocol
            default: nil
            }
        }
    }

    /// A server's answer. In its texts, `{channel}`, `{key}`, `{path}`, `{app}` and `{reason}` stand for what they name, the last one for
    /// the hosted service's text.
    package enum Answer: Equatable, Sendable {
        /// The server does what it is asked for.
        case success
        /// The server does nothing.
        case nothing
        /// A `pusher:error`, and what follows it.
        case error(String, code: Int?, then: Ending = .nothing)
        /// A `pusher:subscription_error`, which names the channel.
        case subscriptionError(String, type: String?, status: Int)
        /// A close frame.
        case close(UInt16, String)
        /// The end of the connection, without a close frame.
        case end
        /// The end of all connections, without close frames.
        case crash
        /// The server says that it is closing, to everybody who is there or comes later, as it does when it is stopped.
        case closing
        /// The response to a request, with its body.
        case response(Int, String)
    }

    /// What follows an error.
    package enum Ending: Equatable, Sendable {
        /// The connection stays.
        case nothing
        /// A close frame with the error's code and this reason.
        case close(String)
        /// The end of the connection, without a close frame.
        case end
    }

    /// Returns the server's own answer; `nil` if it is the hosted service's.
    func answer(_ occasion: Occasion) -> Answer? {
        answers[occasion] ?? occasion.general.flatMap { answer($0) }
    }

    /// Returns whether the server does what others refuse.
    func accepts(_ occasion: Occasion) -> Bool { answer(occasion) == .success }

    /// Returns the server's own response to a request.
    func response(_ occasion: Occasion, _ words: [String: String] = [:]) -> StubResponse? {
        guard case .response(let status, let body) = answer(occasion) else { return nil }
        let isJSON = body.begins(with: "{")
        let text = body.filled(isJSON ? words.mapValues { String($0.quotedJSON.dropFirst().dropLast()) } : words)
        guard !text.isEmpty else { return StubResponse(status: status) }
        return StubResponse(status: status, text: text, contentType: isJSON ? "application/json" : "text/plain; charset=utf-8")
    }
}

extension String {
    /// Returns the text with what stands for its placeholders.
    fileprivate func filled(_ words: [String: String]) -> String {
        replacing(#/{([a-z]+)}/#) { words[String($0.1)] ?? String($0.0) }
    }
}

extension ServerMachine {
    /// Ends a connection without a close frame. No frame has this code, which stands for that (RFC 6455, 7.4.1).
    static let endWithoutClose: UInt16 = 1006

    /// Gives the profile's answer to a client. Returns whether there is one.
    mutating func answer(
        _ occasion: ServerProfile.Occasion?, channel: String? = nil, words: [String: String] = [:], to id: ConnectionID
    ) -> Bool {
        guard let answer = occasion.flatMap(profile.answer) else { return false }
        var words = words
        words["channel"] = channel?.shortened
        words["socket"] = connections[id]?.socketID
        words["wrong"] = channel.map { ChannelName($0.shortened).wrongCharacters }
        switch answer {
        case .success, .nothing: break
        // A client in memory sees the refusal of its upgrade as an end.
        case .response: end(id, code: Self.endWithoutClose, reason: "")
        case .error(let text, let code, let ending):
            effects.append(.send(profile.error(text.filled(words), code: code, channel: channel), to: id))
            switch ending {
            case .nothing: break
            case .close(let reason): end(id, code: UInt16(clamping: code ?? 1000), reason: reason.filled(words))
            case .end: end(id, code: Self.endWithoutClose, reason: "")
            }
        case .subscriptionError(let text, let type, let status):
            effects.append(
                .send(profile.subscriptionError(channel ?? "", text.filled(words), type: type, status: status), to: id))
        case .close(let code, let reason): end(id, code: code, reason: reason)
        case .end: end(id, code: Self.endWithoutClose, reason: "")
        case .crash:
            crash()
        case .closing:
            isClosing = true
            shutdown()
        }
        return true
    }

    /// Ends all connections, and starts again without them and without channels.
    private mutating func crash() {
        let ids = connections.keys.sorted()
        let ends = ids.flatMap { [Effect.close($0, code: Self.endWithoutClose, reason: ""), .notice(.disconnected($0))] }
        // Nobody is told that others left, nor is the backend.
        let (told, reported) = (effects + ends, webhooks)
        for id in ids { remove(id) }
        (effects, webhooks, countsDue) = (told, reported, [:])
        nextDeadline = deadlineWithoutConnections
        knownChannels = []
        cache = ServerCache()
    }

    /// Closes a connection, also one that wasn't let in.
    private mutating func end(_ id: ConnectionID, code: UInt16, reason: String) {
        if connections[id] == nil { return effects.append(.close(id, code: code, reason: reason)) }
        close(id, code: code, reason: reason)
    }
}
