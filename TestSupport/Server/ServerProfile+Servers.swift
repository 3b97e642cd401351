import PusherChannels

/// The servers that have users, and Laravel Reverb. `ci/checks/profiles` compares each with the real server's transcript.
extension ServerProfile {
    /// The hosted service, as its documentation and its clients describe it.
    public static let hosted = ServerProfile()

    /// Laravel Reverb, as recorded. It has no users.
    public static let reverb = simple.with {
        $0.about = "Laravel Reverb 1.10, recorded in the autumn of 2026"
        $0.activityTimeout = 30
        $0.tellsActivityTimeoutToAll = true
        $0.sendsErrorDataAsText = true
        $0.channelRefusal = .connectionError
        $0.pongData = .absent
        $0.sendsEmptyHashAsArray = true
        $0.tellsMembersFirst = true
        $0.keepsNumericIDs = true
        $0.clientEventData = .structure
        $0.cacheChannels = .allButEncrypted
        $0.cachesClientEvents = true
        $0.cacheDescription = .message
        $0.membersWithoutInfo = .breakTheirChannel
        $0.hidesPresentSubscriptions = true
        $0.publishers = .ofSecret
        $0.sendsWebhooks = false
        $0.maximumEventDataLength = 10_000
        $0.maximumClientEventDataLength = 10_000
        $0.maximumBatchLength = 100
        let invalid = Answer.error("Invalid message format", code: 4200)
        let noData = Answer.response(422, #"{"data":["The data field is required."]}"#)
        $0.answers = [
            .unknownKey: .error("Application does not exist", code: 4001, then: .end),
            .overQuota: .error("Application is over connection quota", code: 4004),
            .noProtocol: .success, .unsupportedProtocol: .success, .otherPath: .response(404, ""),
            .unreadable: invalid, .noEvent: invalid, .unknownEvent: invalid, .otherEvent: .nothing, .binary: .success,
            .noChannel: invalid, .subscriptionDataAsText: .success,
            .invalidName: .success, .userChannel: .success,
            .wrongSignature: .error("Connection is unauthorized", code: 4009), .otherKey: .success, .noUser: invalid,
            .subscribedAlready: .success, .notSubscribed: .nothing,
            .eventOnPublicChannel: .success, .eventOnEncryptedChannel: .success,
            .eventWithoutSubscription: .error("The client is not a member of the specified channel.", code: 4009),
            .largeEvent: .close(1009, "Maximum message size exceeded"),
            .batchPublished: .response(200, #"{"batch":{}}"#),
            .unauthorized: .response(401, "Authentication signature invalid."), .oldTimestamp: .success,
            .digestOfNothing: .response(401, "Authentication signature invalid."),
            .unknownApp: .response(404, "No matching application for ID [{app}]."), .unknownCall: .response(404, "Not found."),
            .unreadableBody: .response(500, "Internal server error."),
            .noName: .response(422, #"{"name":["The name field is required."]}"#), .noData: noData, .emptyData: noData,
            .dataNotText: .response(422, #"{"data":["The data field must be a string."]}"#),
            .largeData: .response(413, "Payload too large."), .invalidChannel: .success,
            .noChannels: .response(
                422,
                """
                {"channel":["The channel field is required when channels is not present."],\
                "channels":["The channels field is required when channel is not present."]}
                """),
            .emptyBatch: .response(422, #"{"batch":["The batch field is required."]}"#),
            .userCount: .success, .usersOfPublicChannel: .response(400, "{}"), .usersOfNobody: .response(404, "{}"),
            .connections: .success, .terminate: .response(500, "Internal server error."),
        ]
    }

    /// soketi, as recorded, with user authentication enabled. Its HTTP API responds with 200 to everything but unknown paths.
    public static let soketi = ServerProfile().with {
        $0.about = "soketi 1.6.1 with uWebSockets.js 20.30, recorded on 2026-11-27"
        $0.activityTimeout = 30
        $0.tellsActivityTimeoutToAll = true
        $0.silenceLimit = SilenceLimit(.seconds(120), code: 4201)
        $0.shutdown = Shutdown(code: 4200, reason: "Server is closing. Please reconnect shortly.", isAnnounced: true)
        $0.successData = .absent
        $0.namesChannelInErrors = true
        $0.watchlist = nil
        $0.repeatsSignInAuth = true
        $0.reachesUsersDirectly = true
        $0.missingInfo = MissingInfo(told: .absent, listed: .absent)
        $0.tellsMembersFirst = true
        $0.keepsNumericIDs = true
        $0.clientEventData = .value
        $0.cacheLifetime = .seconds(60 * 60)
        $0.attributes = [.userCount, .subscriptionCount]
        $0.attributesUnasked = [.subscriptionCount]
        $0.listedAttributes = []
        $0.publishedAttributes = []
        $0.sendsPublishedValues = true
        $0.publishers = .ofSecret
        $0.webhooksCarryValues = true
        $0.tellBackendsAtOnce()
        $0.maximumChannelNameLength = 200
        $0.maximumEventDataLength = 102_400
        $0.maximumClientEventDataLength = 102_400
        $0.maximumUserInfoLength = 2048
        let ok = Answer.response(200, #"{"ok":true}"#)
        let unauthorized = Answer.response(200, #"{"error":"The secret authentication failed","code":401}"#)
        let incorrect = Answer.response(200, #"{"error":"The received data is incorrect","code":400}"#)
        $0.answers = [
            .unknownKey: .error("App key {key} does not exist.", code: 4001, then: .close("")),
            .noProtocol: .success, .unsupportedProtocol: .success, .otherPath: .response(404, ""),
            .unreadable: .nothing, .noEvent: .nothing, .otherEvent: .nothing, .binary: .success,
            .noSubscriptionData: .closing,
            .invalidName: .subscriptionError(
                """
                The channel name is not allowed. Read channel conventions: \
                https://pusher.com/docs/channels/using_channels/channels/#channel-naming-conventions
                """, type: nil, status: 4009),
            .longName: .subscriptionError(
                "The channel name is longer than the allowed 200 characters.", type: "LimitReached", status: 4009),
            .reservedName: .success, .userChannel: .success,
            .wrongSignature: .subscriptionError("The connection is unauthorized.", type: "AuthError", status: 401),
            .noUser: .subscriptionError("A server error has occured.", type: "ServerError", status: 4302),
            .subscribedAlready: .success, .notSubscribed: .nothing,
            .eventOnPublicChannel: .success, .eventOnEncryptedChannel: .success, .eventWithoutSubscription: .nothing,
            .signInRefused: .error("Connection not authorized.", code: 4009, then: .close("")),
            .terminated: .error("You got disconnected by the app.", code: 4009, then: .close("")),
            .published: ok, .batchPublished: ok, .hasTerminated: ok,
            .unauthorized: unauthorized, .oldTimestamp: .success, .emptyPost: unauthorized,
            .unknownApp: .response(200, #"{"error":"The app {app} could not be found.","code":404}"#),
            .unknownCall: .response(404, ""),
            .unreadableBody: unauthorized, .noName: incorrect, .noData: incorrect, .emptyData: incorrect, .dataNotText: .success,
            .longEventName: .response(200, #"{"error":"Event name is too long. Maximum allowed size is 200.","code":400}"#),
            .noChannels: .success, .invalidChannel: .success,
            .manyChannels: .response(200, #"{"error":"Cannot broadcast to more than 100 channels at once","code":400}"#),
            .batch: .response(200, #"{"error":"Cannot batch-send more than 10 messages at once","code":400}"#),
            .userCount: .success,
            .usersOfPublicChannel: .response(200, #"{"error":"The channel must be a presence channel.","code":400}"#),
        ]
    }

    /// Sockudo with clients of Pusher's protocol (its V1), as recorded.
    public static let sockudo = ServerProfile().with {
        $0.about = "Sockudo 5.0.1 (7040dc04), recorded on 2026-11-27"
        $0.tellsActivityTimeoutToAll = true
        $0.maximumWaitingMessages = 1000
        $0.channelRefusal = .connectionError
        $0.pongData = .absent
        $0.watchlist = .plainEvents
        $0.publishKeyLifetime = .seconds(300)
        $0.reachesUsersDirectly = true
        $0.missingInfo = MissingInfo(told: .object, listed: .object)
        $0.tellsMembersFirst = true
        $0.clientEventData = .valueOrNull
        $0.namesSenders = false
        $0.cacheLifetime = .seconds(300)
        $0.cacheMissData = "{}"
        $0.cacheDescription = .messageAndLifetime
        $0.acknowledgesEvents = true
        $0.webhooksCarryValues = true
        $0.tellBackendsAtOnce()
        $0.maximumChannelNameLength = 200
        $0.maximumEventDataLength = 102_400
        $0.maximumClientEventDataLength = 102_400
        $0.maximumChannelsPerTrigger = .max
        $0.maximumBatchLength = 100
        $0.publishesBatchesInPart = true
        func refusal(_ status: Int, _ code: String, _ error: String) -> Answer {
            .response(status, #"{"code":"\#(code)","error":"\#(error)","status":\#(status)}"#)
        }
        let ok = Answer.response(200, #"{"ok":true}"#)
        let onWrongChannel = Answer.error(
            "Client event error: Client events can only be sent to private or presence channels", code: 4301)
        let noUser = Answer.error("Channel error: Missing user_id in channel_data", code: 4300)
        let noDigest = refusal(
            401, "auth_failed",
            "body_md5 is required and must be non-empty in query parameters for POST requests with a non-empty body")
        let unauthorized = refusal(401, "auth_failed", "Invalid API signature")
        let wrongCharacters = "Channel name contains invalid characters: '{channel}' (invalid chars: [{wrong}])"
        $0.answers = [
            .unknownKey: .end, .noProtocol: .success, .unsupportedProtocol: .success, .unreadableProtocol: .response(400, ""),
            .otherPath: .response(404, ""),
            .unreadable: .error("Invalid message format: Decode failed: JSON deserialization failed", code: 4000),
            .noEvent: .error("Invalid event name: Event name is required", code: 4000), .otherEvent: .nothing, .binary: .success,
            .noChannel: .error("Invalid message format: Missing channel field", code: 4000),
            .noSubscriptionData: .error("Invalid message format: Invalid subscription data format", code: 4000),
            .subscriptionDataAsText: .success,
            .invalidName: .error("Channel error: \(wrongCharacters)", code: 4300), .emptyName: .success, .reservedName: .success,
            .longName: .error("Channel error: Channel name too long. Max length is 200", code: 4300), .userChannel: .success,
            .presenceCache: .error("Invalid message format: Missing channel_data for presence channel", code: 4000),
            .wrongSignature: .error("Authentication error: Channel requires authentication", code: 4009),
            .noSignature: .error("Authentication error: Authentication signature required for this channel", code: 4009),
            .noUser: noUser, .numericUserID: noUser, .noChannelData: .end,
            .subscribedAlready: .success, .presentAlready: .nothing, .notSubscribed: .nothing,
            .eventOnPublicChannel: onWrongChannel, .eventOnCacheChannel: onWrongChannel, .eventOnEncryptedChannel: .success,
            .eventWithoutSubscription: .error(
                "Client event error: Socket {socket} is not subscribed to channel {channel}", code: 4301),
            .signInRefused: .error("Authentication error: Connection not authorized for signin.", code: 4009),
            .signInWithoutData: .error("Authentication error: Missing 'user_data' field in signin data", code: 4009),
            .terminated: .error("You got disconnected by the app.", code: 4009, then: .close("You got disconnected by the app.")),
            .published: ok, .hasTerminated: ok,
            .unauthorized: unauthorized, .digestOfNothing: unauthorized, .noDigest: noDigest, .emptyPost: noDigest,
            .otherAppKey: refusal(404, "app_not_found", "Application key not found or invalid: Invalid app key"),
            .oldTimestamp: refusal(401, "auth_failed", "Timestamp expired or too far in the future"),
            .unknownApp: refusal(401, "auth_failed", "Authenticated app does not match route app_id"),
            .unknownCall: .response(404, "404 NOT FOUND"),
            .unreadableBody: .response(
                400, "Failed to parse the request body as JSON: key must be a string at line 1 column 2"),
            .noName: refusal(400, "invalid_input", "Event name is required"), .noData: .success,
            .dataNotText: .response(
                422,
                """
                Failed to deserialize the JSON body into the target type: data: data did not match any variant of untagged enum \
                ApiMessageData at line 1 column 31
                """),
            .longEventName: refusal(400, "limit_exceeded", "Event name '{event}' exceeds maximum length of 200"),
            .noChannels: refusal(
                400, "missing_channel_info", "Request must contain 'channels' (list) or 'channel' (string)"),
            .invalidChannel: refusal(400, "invalid_input", wrongCharacters),
            .publishUnderWay: refusal(503, "backpressure", "{reason}"), .publishKey: refusal(400, "invalid_input", "{reason}"),
            .userCountOfAll: refusal(
                400, "invalid_input", "user_count is only available for presence channels. Use filter_by_prefix=presence-"),
            .userCount: refusal(400, "invalid_input", "user_count is only available for presence channels"),
            .usersOfPublicChannel: refusal(400, "invalid_input", "Only presence channels support this endpoint"),
        ]
    }

    /// pylon, as recorded.
    public static let pylon = ServerProfile().with {
        $0.about = "Pylon 0.2.0, recorded in the autumn of 2026"
        $0.tellsActivityTimeoutToAll = true
        $0.protocolVersions = 6...7
        $0.successData = .emptyText
        $0.namesChannelInErrors = true
        $0.maximumWaitingMessages = 1000
        $0.reachesUsersDirectly = true
        $0.missingInfo = MissingInfo(told: .null, listed: .null)
        $0.clientEventData = .valueOrNull
        $0.attributes = [.userCount]
        $0.publishedAttributes = [.userCount]
        $0.webhooksCarryValues = true
        func closing(_ words: String, code: Int) -> Answer { .error(words, code: code, then: .close(words)) }
        func refusal(_ words: String) -> Answer { .subscriptionError(words, type: "AuthError", status: 401) }
        $0.answers = [
            .unknownKey: closing("Could not find app by key", code: 4001),
            .noKey: closing("Could not find app by key", code: 4001),
            .noProtocol: .success, .unsupportedProtocol: closing("Unsupported protocol version", code: 4007),
            .unreadableProtocol: closing("Invalid version string format", code: 4006), .otherPath: .response(404, ""),
            .unreadable: .nothing, .noEvent: .nothing, .otherEvent: .nothing, .binary: .nothing,
            .noChannel: .nothing, .reservedName: refusal("Unknown channel"), .userChannel: refusal("Unauthorized"),
            .invalidName: .subscriptionError("Invalid channel name", type: "InvalidChannel", status: 4009),
            .wrongSignature: refusal("Invalid signature"), .noSignature: refusal("Auth signature required"),
            .otherKey: refusal("Auth key mismatch"), .garbledSignature: refusal("Bad auth token"),
            .noUser: refusal("Invalid channel_data"), .noChannelData: refusal("Presence requires channel_data"),
            .subscribedAlready: .nothing, .notSubscribed: .nothing,
            .eventOnPublicChannel: .nothing, .eventOnEncryptedChannel: .nothing, .eventWithoutSubscription: .nothing,
            .largeEvent: .error("Client event rejected - the data is too large", code: 4301),
            .signInRefused: closing("Connection not authorized.", code: 4009), .signInWithoutData: .nothing,
            .terminated: closing("You got disconnected by the app.", code: 4009),
            .unauthorized: .response(401, "invalid authentication"), .unknownApp: .response(401, "invalid authentication"),
            .unknownCall: .response(404, ""), .unreadableBody: .response(400, "invalid request body"),
            .longEventName: .response(400, "Event name too long"), .largeData: .response(413, "Event message over 10k"),
            .noChannels: .response(400, "invalid channel count"), .manyChannels: .response(400, "invalid channel count"),
            .invalidChannel: .response(400, "Invalid channel name"),
            .batch: .response(400, "invalid batch size"), .emptyBatch: .response(400, "invalid batch size"),
            .userCount: .success,
            .userCountOfAll: .response(400, "user_count is only allowed when filtering by presence channels"),
            .usersOfPublicChannel: .response(400, "Only presence channels allow this functionality"),
        ]
    }
}

extension ServerProfile {
    /// The servers that can be imitated, by the names that `pusher-channels serve --profile` takes.
    public static let byName: KeyValuePairs<String, ServerProfile> = [
        "hosted": hosted, "reverb": reverb, "soketi": soketi, "sockudo": sockudo, "sockudo-v2": sockudoV2,
        "pusher-fake": pusherFake, "pylon": pylon,
        "ipe": ipe, "poxa": poxa, "pusher-server-go": pusherServerGo,
    ]
}
