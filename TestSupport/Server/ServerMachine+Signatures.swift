import PusherChannels

extension ServerMachine {
    /// The largest difference between a request's clock and the server's, in seconds.
    private static let maximumTimestampDifference = 600

    /// Returns the problem with a subscription's `auth`; `nil` if it is correct.
    func signatureProblem(
        _ auth: String?, channel: String, channelData: String?, connection: Connection
    ) -> SubscriptionRefusal? {
        guard var auth else {
            return SubscriptionRefusal(occasion: .noSignature, message: "Auth info required to subscribe to \(channel)")
        }
        let app = connection.app
        let prefix = "\(app.key):"
        if !auth.utf8.starts(with: prefix.utf8) {
            let key = String(Substring(auth.utf8.prefix { $0 != UInt8(ascii: ":") }))
            let isGarbled = key.utf8.count == auth.utf8.count
            guard !isGarbled, profile.accepts(.otherKey) else {
                return SubscriptionRefusal(
                    occasion: isGarbled ? .garbledSignature : .otherKey,
                    message: "Invalid key in subscription auth data: '\(key.shortened)'")
            }
            auth = app.key + String(Substring(auth.utf8.dropFirst(key.utf8.count)))
        }
        let expected = try? Signature.channel(
            channel, channelData: channelData, socketID: connection.socketID, key: app.key, secret: app.secret)
        if let expected, isSameSignature(auth, expected) { return nil }
        let signed = "\(connection.socketID):\(channel)" + (channelData.map { ":\($0.shortened)" } ?? "")
        return SubscriptionRefusal(
            occasion: .wrongSignature,
            message: "Invalid signature: Expected HMAC SHA256 hex digest of \(signed), but got "
                + String(Substring(auth.utf8.dropFirst(prefix.utf8.count))).shortened)
    }

    /// Returns the problem with an HTTP API request's signature; `nil` if it is correct.
    func signatureProblem(of request: RecordedRequest, app: ServerApp, unixTime: Int) -> HTTPRefusal? {
        if profile.publishers == .all || newKeys.contains(Name(app.key)) { return nil }
        var parameters = request.queryFields
        guard let key = parameters["auth_key"] else { return .unauthorized("Missing parameter: auth_key") }
        guard app.hasKey(key) || profile.publishers != .ofKeyAndSecret else {
            return .unauthorized("Unknown auth_key: \(key)", .otherAppKey)
        }
        guard let version = parameters["auth_version"] else { return .unauthorized("Missing parameter: auth_version") }
        guard version.hasBytes(of: "1.0") else { return .unauthorized("Unsupported auth_version: \(version)") }
        guard let timestamp = parameters["auth_timestamp"].flatMap({ Int($0) }) else {
            return .unauthorized("Missing or unreadable parameter: auth_timestamp")
        }
        let (difference, overflow) = timestamp.subtractingReportingOverflow(unixTime)
        let isRecent = !overflow && difference.magnitude <= Self.maximumTimestampDifference
        guard isRecent || profile.accepts(.oldTimestamp) else {
            return .unauthorized(
                "Timestamp expired: \(timestamp) is not within \(Self.maximumTimestampDifference) s of the server's "
                    + "time, \(unixTime)", .oldTimestamp)
        }
        if let problem = bodyProblem(of: request, md5: parameters["body_md5"]) { return problem }
        guard let signature = parameters.removeValue(forKey: "auth_signature") else {
            return .unauthorized("Missing parameter: auth_signature", .unsigned)
        }
        let expected = Signature.request(
            method: request.method, path: request.apiPath, query: parameters.map { ($0.key.text, $0.value) }, secret: app.secret)
        guard !isSameSignature(signature, expected) else { return nil }
        let query = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        return .unauthorized(
            "Invalid signature: you should have sent HmacSHA256Hex(\"\(request.method)\\n\(request.apiPath)\\n\(query)\", "
                + "your_secret_key), but you sent \"\(signature)\"")
    }

    private func bodyProblem(of request: RecordedRequest, md5 given: String?) -> HTTPRefusal? {
        if request.body.isEmpty, given == nil {
            let isRefused = Name(request.method) == "POST" && profile.answer(.emptyPost) != nil
            return isRefused ? .unauthorized("A POST has a body", .emptyPost) : nil
        }
        if request.body.isEmpty, profile.answer(.digestOfNothing) != nil {
            return .unauthorized("body_md5 given for an empty body", .digestOfNothing)
        }
        guard let given else {
            return profile.accepts(.noDigest) ? nil : .unauthorized("Missing parameter: body_md5", .noDigest)
        }
        let expected = md5(request.body)
        guard !given.hasBytes(of: expected) else { return nil }
        return .unauthorized("Invalid body_md5: the body's is \(expected), but you sent \"\(given)\"")
    }
}
