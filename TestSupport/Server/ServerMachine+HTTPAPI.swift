import Foundation
import PusherChannels

/// An unsuccessful response, with a line that says why.
struct HTTPRefusal: Error {
    /// The occasion, for the profile's own answer; `nil` at the authorization endpoints.
    var occasion: ServerProfile.Occasion?
    let status: Int
    let reason: String
    /// What stands for placeholders of the answer.
    var words: [String: String] = [:]
    /// The seconds after which the request may be made again, if the server says so.
    var retryAfter: Int?

    static func unauthorized(_ reason: String, _ occasion: ServerProfile.Occasion = .unauthorized) -> HTTPRefusal {
        HTTPRefusal(occasion: occasion, status: 401, reason: reason)
    }
}

extension RecordedRequest {
    /// Indicates whether the request is for one of a Channels server's own paths, wherever that server is.
    var isForChannelsServer: Bool {
        apiPath.begins(with: "/apps/") || ["/pusher/auth", "/pusher/user-auth"].contains(Name(path))
    }

    /// Indicates whether the request is signed as a call of the HTTP API.
    var isSigned: Bool { queryFields["auth_signature"] != nil }

    /// The path as publishers sign it: without the prefix before `/apps/` of a server that has its HTTP API below another path.
    var apiPath: String {
        let path = path
        guard !path.begins(with: "/apps/"), isSigned, let start = path.utf8.firstRange(of: "/apps/".utf8)?.lowerBound else {
            return path
        }
        return String(path[start...])
    }
}

extension ServerMachine {
    /// Responds to a request to the HTTP API (`/apps/…`) or to the authorization endpoints (`/pusher/auth`, `/pusher/user-auth`).
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - unixTime: The wall clock in seconds; a signature's timestamp must be near it.
    /// - Returns: The response; 404 for any other path.
    package mutating func respond(
        to request: RecordedRequest, unixTime: Int
    ) -> StubResponse {
        do throws(HTTPRefusal) {
            if let reply = try authorize(request) { return .json(reply) }
            let (reply, occasion) = try reply(request, unixTime: unixTime)
            return occasion.flatMap { profile.response($0) } ?? .json(reply)
        } catch {
            let segments = request.path.utf8.split(separator: UInt8(ascii: "/"))
            let words = [
                "path": request.path, "reason": error.reason,
                "app": segments.dropFirst().first.map { String(Substring($0)) } ?? "",
                "channel": segments.dropFirst(3).first.map { String(Substring($0)) } ?? "",
            ].merging(error.words) { $1 }
            var response =
                error.occasion.flatMap { profile.response($0, words) }
                ?? StubResponse(status: error.status, text: error.reason + "\n")
            if let seconds = error.retryAfter { response.headers.merge(["Retry-After": "\(seconds)"]) { $1 } }
            return response
        }
    }

    private mutating func reply(
        _ request: RecordedRequest, unixTime: Int
    ) throws(HTTPRefusal) -> (JSONValue, success: ServerProfile.Occasion?) {
        let segments = request.apiPath.utf8.split(separator: UInt8(ascii: "/")).map { segment in
            Name(Substring(segment).removingPercentEncoding ?? String(Substring(segment)))
        }
        guard segments.count >= 3, segments[0] == "apps" else {
            throw HTTPRefusal(occasion: .unknownCall, status: 404, reason: "No such path: \(request.path)")
        }
        if Name(request.method) == "GET", profile.answer(.query) != nil {
            throw HTTPRefusal(occasion: .query, status: 404, reason: "There are no queries")
        }
        let parameters = request.queryFields
        guard let app = app(id: segments[1].text, key: parameters["auth_key"] ?? "") else {
            throw HTTPRefusal(occasion: .unknownApp, status: 404, reason: "Unknown app id: \(segments[1])")
        }
        if let problem = signatureProblem(of: request, app: app, unixTime: unixTime) {
            throw problem
        }
        guard app.isEnabled else { throw HTTPRefusal(status: 403, reason: "App disabled") }
        let call = segments[2...]
        switch (Name(request.method), call.first, call.dropFirst(2).first, call.count) {
        case ("POST", "events", nil, 1):
            let reply = try trigger(try body(of: request), key: request.header("X-Idempotency-Key"), app: app)
            return (reply, reply == [:] ? .published : nil)
        case ("POST", "batch_events", nil, 1) where profile.servesBatches:
            let reply = try triggerBatch(try body(of: request), key: request.header("X-Idempotency-Key"), app: app)
            return (reply, reply == [:] ? .batchPublished : nil)
        case ("GET", "channels", nil, 1):
            return (try listChannels(parameters, app: app), nil)
        case ("GET", "channels", nil, 2):
            return (try describe(segments[3].text, info: parameters["info"], app: app), nil)
        case ("GET", "channels", "users", 3):
            return (try listUsers(segments[3].text, app: app), nil)
        case ("GET", "connections", nil, 1) where profile.accepts(.connections):
            return (["connections": .integer(connections.values.count { $0.app.hasKey(app.key) })], nil)
        case ("POST", "users", "terminate_connections", 3) where profile.supportsSignIn:
            terminateConnections(of: segments[3].text, app: app)
            return ([:], .hasTerminated)
        default:
            let isTermination = call.dropFirst(2).first == "terminate_connections"
            throw HTTPRefusal(
                occasion: isTermination ? .terminate : .unknownCall, status: 404,
                reason: "No such call: \(request.method) \(request.path)")
        }
    }

    /// Returns the app with an id, or the app of a key that nobody registered, whose id isn't known.
    private mutating func app(id: String, key: String) -> ServerApp? {
        let known = apps.first { $0.hasKey(key) }
        if let known, newKeys.contains(Name(known.key)) { return known }
        let named = apps.first { $0.id.hasBytes(of: id) }
        if known != nil { return named ?? (profile.accepts(.unknownApp) ? known : nil) }
        return newApp(key: key) ?? named
    }

    private func body(of request: RecordedRequest) throws(HTTPRefusal) -> JSONValue {
        do {
            return try JSONValue(parsing: request.text)
        } catch {
            throw HTTPRefusal(occasion: .unreadableBody, status: 400, reason: "The body is not JSON: \(error)")
        }
    }

    // MARK: Queries

    private func listChannels(_ parameters: [Name: String], app: ServerApp) throws(HTTPRefusal) -> JSONValue {
        let prefix = parameters["filter_by_prefix"] ?? ""
        let asksForUsers = ServerProfile.Attributes(parameters["info"]).contains(.userCount)
        if asksForUsers, !prefix.begins(with: "presence-"), !profile.accepts(.userCountOfAll) {
            throw HTTPRefusal(
                occasion: .userCountOfAll, status: 400,
                reason:
                    "user_count may only be requested for presence channels - please supply filter_by_prefix begining with presence-"
            )
        }
        let keys = profile.keepsEmptyChannels ? Array(knownChannels) : Array(channels.keys)
        let names = keys.filter { app.hasKey($0.appKey.text) && $0.name.text.utf8.starts(with: prefix.utf8) }.map(\.name.text)
        let listed = names.map { ($0, attributes(parameters["info"], of: $0, app: app, in: profile.listedAttributes)) }
        return .object(["channels": JSONValue(members: listed)])
    }

    private func describe(_ name: String, info: String?, app: ServerApp) throws(HTTPRefusal) -> JSONValue {
        let asked = ServerProfile.Attributes(info)
        if asked.contains(.userCount), ChannelName(name).kind != .presence, !profile.accepts(.userCount) {
            throw HTTPRefusal(
                occasion: .userCount, status: 400,
                reason: "Cannot retrieve the user count unless the channel is a presence channel")
        }
        if !asked.isEmpty, !asked.isSubset(of: profile.attributes), profile.answer(.attribute) != nil {
            throw HTTPRefusal(occasion: .attribute, status: 400, reason: "There is no such attribute")
        }
        let key = ChannelKey(appKey: app.key, name: Name(name))
        if profile.answer(.unoccupied) != nil, channels[key] == nil, !knownChannels.contains(key) {
            throw HTTPRefusal(occasion: .unoccupied, status: 404, reason: "Nobody is on the channel")
        }
        var members = attributes(info, of: name, app: app).objectValue ?? [:]
        members["occupied"] = .bool(channels[key] != nil)
        return .object(members)
    }

    private func listUsers(_ name: String, app: ServerApp) throws(HTTPRefusal) -> JSONValue {
        guard ChannelName(name).kind == .presence || profile.accepts(.usersOfPublicChannel) else {
            throw HTTPRefusal(
                occasion: .usersOfPublicChannel, status: 400, reason: "Users can only be retrieved for presence channels")
        }
        guard let channel = channels[ChannelKey(appKey: app.key, name: Name(name))] else {
            guard profile.answer(.usersOfNobody) == nil else {
                throw HTTPRefusal(occasion: .usersOfNobody, status: 404, reason: "Nobody is on the channel")
            }
            return ["users": []]
        }
        let ids =
            profile.listsSocketIDs
            ? channel.subscribers.compactMap { connections[$0].map { .string($0.socketID) } } : channel.listedIDs(profile)
        return .object(["users": .array(ids.map { .object(["id": $0]) })])
    }

    /// Returns the attributes of a channel that a request asks for and the server gives.
    func attributes(
        _ info: String?, of name: String, app: ServerApp, in given: ServerProfile.Attributes? = nil
    ) -> JSONValue {
        let asked = ServerProfile.Attributes(info).intersection(given ?? profile.attributes)
        let attributes = asked.union(profile.attributesUnasked)
        let key = ChannelKey(appKey: app.key, name: Name(name))
        let channel = channels[key]
        let isPresence = ChannelName(name).kind == .presence
        var members: [Name: JSONValue] = [:]
        if attributes.contains(.userCount), isPresence {
            let users = profile.countsConnectionsAsUsers ? channel?.subscribers.count : channel?.memberIDs.count
            members["user_count"] = .integer(users ?? 0)
        }
        if attributes.contains(.subscriptionCount), !(isPresence && profile.hidesPresentSubscriptions) {
            members["subscription_count"] = .integer(channel?.subscribers.count ?? 0)
        }
        if attributes.contains(.cache), caches(ChannelName(name)) {
            members["cache"] = cache.description(of: key, as: profile.cacheDescription, at: now)
        }
        if !profile.attributesUnasked.isEmpty { members["occupied"] = .bool(channel != nil) }
        return .object(members)
    }
}

extension ServerProfile.Attributes {
    init(_ info: String?) {
        self = []
        for name in info?.utf8.split(separator: UInt8(ascii: ",")) ?? [] {
            switch Name(String(Substring(name))) {
            case "user_count": insert(.userCount)
            case "subscription_count": insert(.subscriptionCount)
            case "cache": insert(.cache)
            default: break
            }
        }
    }
}
