import Foundation
import PusherChannels

/// An unsuccessful response, with a line that says why.
struct HTTPRefusal: Error {
    let status: Int
    let reason: String
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
    ///   - effects: The array to which messages to subscribers are appended.
    /// - Returns: The response; 404 for any other path.
    public mutating func respond(
        to request: RecordedRequest, unixTime: Int, into effects: inout [Effect]
    ) -> StubResponse {
        do throws(HTTPRefusal) {
            if let reply = try authorize(request) { return .json(reply) }
            return .json(try reply(request, unixTime: unixTime, into: &effects))
        } catch {
            return StubResponse(status: error.status, text: error.reason + "\n")
        }
    }

    private mutating func reply(
        _ request: RecordedRequest, unixTime: Int, into effects: inout [Effect]
    ) throws(HTTPRefusal) -> JSONValue {
        let segments = request.apiPath.utf8.split(separator: UInt8(ascii: "/")).map { segment in
            Name(Substring(segment).removingPercentEncoding ?? String(Substring(segment)))
        }
        guard segments.count >= 3, segments[0] == "apps" else {
            throw HTTPRefusal(status: 404, reason: "No such path: \(request.path)")
        }
        let parameters = request.queryFields
        guard let app = app(id: segments[1].text, key: parameters["auth_key"] ?? "", into: &effects) else {
            throw HTTPRefusal(status: 404, reason: "Unknown app id: \(segments[1])")
        }
        if let problem = signatureProblem(of: request, app: app, unixTime: unixTime) {
            throw HTTPRefusal(status: 401, reason: problem)
        }
        guard app.isEnabled else { throw HTTPRefusal(status: 403, reason: "App disabled") }
        let call = segments[2...]
        switch (Name(request.method), call.first, call.dropFirst(2).first, call.count) {
        case ("POST", "events", nil, 1):
            return try trigger(try body(of: request), app: app, into: &effects)
        case ("POST", "batch_events", nil, 1) where profile.servesBatches:
            return try triggerBatch(try body(of: request), app: app, into: &effects)
        case ("GET", "channels", nil, 1):
            return try listChannels(parameters, app: app)
        case ("GET", "channels", nil, 2):
            return try describe(segments[3].text, info: parameters["info"], app: app)
        case ("GET", "channels", "users", 3):
            return try listUsers(segments[3].text, app: app)
        case ("POST", "users", "terminate_connections", 3):
            terminateConnections(of: segments[3].text, app: app, into: &effects)
            return [:]
        default:
            throw HTTPRefusal(status: 404, reason: "No such call: \(request.method) \(request.path)")
        }
    }

    /// Returns the app with an id, or the app of a key that nobody registered, whose id isn't known.
    private mutating func app(id: String, key: String, into effects: inout [Effect]) -> ServerApp? {
        let known = apps.first { $0.hasKey(key) }
        if let known, newKeys.contains(Name(known.key)) { return known }
        let named = apps.first { $0.id.hasBytes(of: id) }
        if known != nil { return named }
        return newApp(key: key, into: &effects) ?? named
    }

    private func body(of request: RecordedRequest) throws(HTTPRefusal) -> JSONValue {
        do {
            return try JSONValue(parsing: request.text)
        } catch {
            throw HTTPRefusal(status: 400, reason: "The body is not JSON: \(error)")
        }
    }

    // MARK: Queries

    private func listChannels(_ parameters: [Name: String], app: ServerApp) throws(HTTPRefusal) -> JSONValue {
        let prefix = parameters["filter_by_prefix"] ?? ""
        if Attributes(parameters["info"]).contains(.userCount), !prefix.begins(with: "presence-") {
            throw HTTPRefusal(
                status: 400,
                reason:
                    "user_count may only be requested for presence channels - please supply filter_by_prefix begining with presence-"
            )
        }
        let names = channels.keys.filter { app.hasKey($0.appKey.text) && $0.name.text.utf8.starts(with: prefix.utf8) }.map(
            \.name.text)
        let listed = names.map { ($0, attributes(parameters["info"], of: $0, app: app)) }
        return .object(["channels": JSONValue(members: listed)])
    }

    private func describe(_ name: String, info: String?, app: ServerApp) throws(HTTPRefusal) -> JSONValue {
        if Attributes(info).contains(.userCount), ChannelName(name).kind != .presence {
            throw HTTPRefusal(
                status: 400, reason: "Cannot retrieve the user count unless the channel is a presence channel")
        }
        var members = attributes(info, of: name, app: app).objectValue ?? [:]
        members["occupied"] = .bool(channels[ChannelKey(appKey: app.key, name: Name(name))] != nil)
        return .object(members)
    }

    private func listUsers(_ name: String, app: ServerApp) throws(HTTPRefusal) -> JSONValue {
        guard ChannelName(name).kind == .presence else {
            throw HTTPRefusal(status: 400, reason: "Users can only be retrieved for presence channels")
        }
        let users = members(of: name, appKey: app.key).map { JSONValue.object(["id": .string($0)]) }
        return .object(["users": .array(users)])
    }

    /// The attributes that a request's `info` names.
    private struct Attributes: OptionSet {
        let rawValue: Int
        static let userCount = Attributes(rawValue: 1)
        static let subscriptionCount = Attributes(rawValue: 2)
        static let cache = Attributes(rawValue: 4)

        init(rawValue: Int) {
            self.rawValue = rawValue
        }

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

    func attributes(_ info: String?, of name: String, app: ServerApp) -> JSONValue {
        let asked = Attributes(info)
        let key = ChannelKey(appKey: app.key, name: Name(name))
        let channel = channels[key]
        var members: [Name: JSONValue] = [:]
        if asked.contains(.userCount), ChannelName(name).kind == .presence {
            members["user_count"] = .integer(channel?.memberIDs.count ?? 0)
        }
        if asked.contains(.subscriptionCount) {
            members["subscription_count"] = .integer(channel?.subscribers.count ?? 0)
        }
        if asked.contains(.cache), caches(ChannelName(name)) { members["cache"] = cache.description(of: key, at: now) }
        return .object(members)
    }
}
