import PusherChannels

/// The servers that have no users. `ci/checks/profiles` compares each with the real server's transcript.
extension ServerProfile {
    /// What servers without users have in common.
    static let simple = ServerProfile().with {
        $0.supportsSignIn = false
        $0.watchlist = nil
        $0.maximumEventNameLength = .max
        $0.maximumChannelsPerTrigger = .max
        $0.maximumClientEventDataLength = 102_400
    }

    /// Has each event reported to backends in a webhook of its own, and a departure without waiting for a return.
    mutating func tellBackendsAtOnce() {
        webhookDepartureDelay = .zero
        maximumWebhookLength = 1
    }

    /// pusher-fake, a test server, as recorded. It has no users, and lets everybody in.
    public static let pusherFake = simple.with {
        $0.about = "pusher-fake 6.1.0, recorded on 2026-11-27"
        $0.tellsActivityTimeoutToAll = true
        $0.channelRefusal = .internalSubscriptionError
        $0.pongData = .text
        $0.cacheChannels = .onlyPublic
        $0.cacheMissData = "null"
        $0.listsMemberIDs = false
        $0.memberChanges = .ofConnections
        $0.describesLeavers = true
        $0.clientEventData = .encoded
        $0.namesSenders = false
        $0.attributes = [.userCount]
        $0.publishedAttributes = []
        $0.countsConnectionsAsUsers = true
        $0.listsSocketIDs = true
        $0.keepsEmptyChannels = true
        $0.encodesPlainText = true
        $0.tellBackendsAtOnce()
        $0.webhookTimesAreInSeconds = true
        $0.publishers = .all
        $0.maximumEventDataLength = 102_400
        $0.maximumBatchLength = 100
        $0.answers = [
            .unknownKey: .success, .noProtocol: .success, .unsupportedProtocol: .success, .otherPath: .success,
            .unreadable: .crash, .noEvent: .crash, .otherEvent: .nothing, .binary: .nothing,
            .noChannel: .crash, .invalidName: .success, .userChannel: .success,
            .noUser: .success, .noChannelData: .crash, .unreadableChannelData: .crash,
            .subscribedAlready: .success, .notSubscribed: .nothing,
            .eventOnPublicChannel: .nothing, .eventOnEncryptedChannel: .success, .eventWithoutSubscription: .nothing,
            .unknownApp: .response(400, "Unknown path: {path}"), .unknownCall: .response(400, "Unknown path: {path}"),
            .unreadableBody: .response(400, "not a number or other value (after ) at line 1, column 1 [parse.c:499]"),
            .noName: .success, .noData: .success, .dataNotText: .success, .noChannels: .success, .invalidChannel: .success,
            .usersOfPublicChannel: .success,
            .userCountOfAll: .response(
                400,
                """
                user_count may only be requested for presence channels - please supply filter_by_prefix beginning with presence-
                """),
        ]
    }

    /// ipe, as recorded. It has no users and no cache channels.
    public static let ipe = simple.with {
        $0.about = "ipe ea6e116, recorded on 2026-11-27"
        $0.protocolVersions = 6...7
        $0.channelRefusal = .errorWithoutCode
        $0.pongData = .text
        $0.cacheChannels = .none
        $0.memberChanges = .ofConnections
        $0.clientEventData = .valueOrNull
        $0.namesSenders = false
        $0.publishedAttributes = []
        $0.listedAttributes = [.userCount]
        $0.keepsEmptyChannels = true
        $0.sendsPublishedValues = true
        $0.servesBatches = false
        $0.webhooksCarryValues = true
        $0.tellBackendsAtOnce()
        $0.webhookTimesAreInSeconds = true
        $0.publishers = .ofSecret
        $0.maximumEventDataLength = 10_000
        let again = Answer.error("Generic reconnect immediately", code: 4200)
        let ending = Answer.error("Generic reconnect immediately", code: 4200, then: .end)
        let wrongName = Answer.error("This channel name is not valid", code: nil)
        let unauthorized = Answer.error("Auth value for subscription to {channel} is invalid", code: nil)
        let onWrongChannel = Answer.error(
            "Client event rejected - only supported on private and presence channels", code: nil)
        let noVersion = Answer.error("Invalid version string format", code: 4006, then: .end)
        let unoccupied = Answer.response(400, "Could not find a channel with id {channel}")
        $0.answers = [
            .unknownKey: .error("Could not found an app with the given key", code: 4001, then: .end),
            .noProtocol: noVersion, .unreadableProtocol: noVersion,
            .unsupportedProtocol: .error("Unsupported protocol version", code: 4007, then: .end), .otherPath: .response(404, ""),
            .unreadable: ending, .eventNotText: ending, .noEvent: .nothing, .otherEvent: .nothing, .binary: .success,
            .noChannel: again, .noSubscriptionData: wrongName, .invalidName: wrongName, .longName: .success,
            .userChannel: wrongName, .wrongSignature: unauthorized, .noChannelData: unauthorized,
            .unreadableChannelData: again, .numericUserID: again,
            .subscribedAlready: .success, .notSubscribed: again,
            .nobodySubscribed: .error("Could not find a channel with the id {channel}", code: nil),
            .eventOnPublicChannel: onWrongChannel, .eventOnEncryptedChannel: .success, .eventWithoutSubscription: .success,
            .unauthorized: .response(401, "Not authorized"), .oldTimestamp: .success, .noDigest: .success,
            .unknownApp: .response(403, "Could not found an app with app_id: {app}"),
            .unknownCall: .response(404, "404 page not found"),
            .unreadableBody: .response(400, "Bad request"), .noName: .success, .noData: .success, .dataNotText: .success,
            .largeData: .response(413, "Request too large."), .noChannels: .success, .invalidChannel: .success,
            .userCount: .response(400, "Attribute user_count is restricted to presence channels"),
            .usersOfPublicChannel: .response(400, "This api endpoint is restricted to presence channels."),
            .usersOfNobody: unoccupied, .unoccupied: unoccupied, .terminate: .response(404, "404 page not found"),
        ]
    }

    /// poxa, as recorded. Only messages from clients count as activity. It has no users and no cache channels.
    public static let poxa = simple.with {
        $0.about = "poxa 1.3, recorded on 2026-11-27"
        $0.tellsActivityTimeoutToAll = true
        $0.silenceLimit = SilenceLimit(.seconds(120), code: 1000)
        $0.successData = .value
        $0.channelRefusal = .errorWithoutCode
        $0.cacheChannels = .none
        $0.missingInfo = MissingInfo(told: .null, listed: .null)
        $0.tellsLeavers = true
        $0.clientEventData = .value
        $0.namesSenders = false
        $0.attributes = [.userCount, .subscriptionCount]
        $0.publishedAttributes = []
        $0.servesBatches = false
        $0.maximumEventDataLength = 10_000
        let ending = Answer.close(1011, "")
        let incomplete = Answer.response(400, #"{"error":"Event must have channel(s), name, and data"}"#)
        let unsigned = "Invalid signature: Expected HMAC SHA256 hex digest of {socket}:{channel}"
        $0.answers = [
            .unknownKey: .close(4001, "Application does not exist"), .noProtocol: ending,
            .unsupportedProtocol: .close(4007, "Unsupported protocol version"), .otherPath: .response(404, ""),
            .unreadable: ending, .noEvent: .nothing, .otherEvent: .nothing, .binary: ending,
            .noChannel: .error("Missing parameter: data.channel", code: nil), .subscriptionDataAsText: ending,
            .invalidName: .success, .userChannel: .success,
            .wrongSignature: .error("\(unsigned), but got {auth}", code: nil), .noSignature: ending,
            .noUser: .success, .unreadableChannelData: ending,
            .noChannelData: .error("\(unsigned):, but got {auth}", code: nil),
            .subscribedAlready: .success, .notSubscribed: .nothing,
            .eventOnPublicChannel: .nothing, .eventOnEncryptedChannel: .success, .eventWithoutSubscription: ending,
            .eventWithoutData: ending,
            .unauthorized: .response(401, ""), .noDigest: .response(401, #"{"error":"Authentication error"}"#),
            .unknownApp: .success, .unknownCall: .response(404, ""),
            .unreadableBody: incomplete, .dataNotText: .response(500, ""), .invalidChannel: incomplete,
            .invalidSocketID: incomplete, .eventForUser: incomplete, .noChannels: .success,
            .largeData: .response(413, #"{"error":"Data key must be smaller than 10000B"}"#),
            .attribute: .response(400, ""), .userCount: .response(400, ""), .usersOfPublicChannel: .response(400, ""),
            .terminate: .response(404, ""),
        ]
    }

    /// pusher-server-go, as recorded. It has no users, no cache channels and no queries.
    public static let pusherServerGo = simple.with {
        $0.about = "pusher-server-go, recorded on 2026-11-27"
        $0.tellsActivityTimeoutToAll = true
        $0.sendsErrorDataAsText = true
        $0.channelRefusal = .errorWithoutCode
        $0.pongData = .text
        $0.cacheChannels = .none
        $0.missingInfo = MissingInfo(told: .object, listed: .null)
        $0.clientEventData = .value
        $0.publishedAttributes = []
        $0.servesBatches = false
        $0.tellBackendsAtOnce()
        $0.maximumEventDataLength = 102_400
        $0.maximumClientEventDataLength = 8192
        let unsigned = Answer.error(
            "Invalid signature: Expected HMAC SHA256 hex digest of {socket}:{channel}, but got {auth}", code: nil)
        let notFound = Answer.response(404, "404 page not found")
        $0.answers = [
            .unknownKey: .response(404, ""), .noProtocol: .success, .unsupportedProtocol: .success,
            .otherPath: .response(404, ""),
            .unreadable: .nothing, .noEvent: .nothing, .otherEvent: .nothing, .binary: .success,
            .noChannel: .nothing, .subscriptionDataAsText: .success, .invalidName: .success, .emptyName: .nothing,
            .userChannel: .success, .wrongSignature: unsigned, .noUser: .success, .noChannelData: unsigned,
            .subscribedAlready: .success, .notSubscribed: .nothing,
            .eventOnPublicChannel: .nothing, .eventOnEncryptedChannel: .success, .eventWithoutSubscription: .nothing,
            .largeEvent: .close(1009, ""),
            .query: notFound, .unknownCall: notFound, .noDigest: .response(401, "Invalid body MD5"),
            .unreadableBody: .response(400, "Invalid JSON"), .noName: .success, .noData: .success,
            .noChannels: .success, .invalidChannel: .success,
        ]
    }
}
