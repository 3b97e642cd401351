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
        apiPath.hasPrefix("/apps/") || path == "/pusher/auth" || path == "/pusher/user-auth"
    }

    /// Indicates whether the request is signed as a call of the HTTP API.
    var isSigned: Bool { parameters["auth_signature"] != nil }

    /// The path as publishers sign it: without the prefix before `/apps/` of a server that has its HTTP API below another path.
    var apiPath: String {
        let path = path
        guard !path.hasPrefix("/apps/"), isSigned, let start = path.range(of: "/apps/")?.lowerBound else { return path }
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
        let segments = request.apiPath.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        guard segments.count >= 3, segments[0] == "apps" else {
            throw HTTPRefusal(status: 404, reason: "No such path: \(request.path)")
        }
        guard let app = app(id: segments[1], key: request.parameters["auth_key"] ?? "", into: &effects) else {
            throw HTTPRefusal(status: 404, reason: "Unknown app id: \(segments[1])")
        }
        if let problem = signatureProblem(of: request, app: app, unixTime: unixTime) {
            throw HTTPRefusal(status: 401, reason: problem)
        }
        guard app.isEnabled else { throw HTTPRefusal(status: 403, reason: "App disabled") }
        switch (request.method, segments[2...].joined(separator: "/"), segments.count) {
        case ("POST", "events", 3):
            return try trigger(try body(of: request), app: app, into: &effects)
        case ("POST", "batch_events", 3) where profile.servesBatches:
            return try triggerBatch(try body(of: request), app: app, into: &effects)
        case ("GET", "channels", 3):
            return try listChannels(request.parameters, app: app)
        case ("GET", _, 4) where segments[2] == "channels":
            return try describe(segments[3], info: request.parameters["info"], app: app)
        case ("GET", _, 5) where segments[2] == "channels" && segments[4] == "users":
            return try listUsers(segments[3], app: app)
        case ("POST", _, 5) where segments[2] == "users" && segments[4] == "terminate_connections":
            terminateConnections(of: segments[3], app: app, into: &effects)
            return [:]
        default:
            throw HTTPRefusal(status: 404, reason: "No such call: \(request.method) \(request.path)")
        }
    }

    /// Returns the app with an id, or the app of a key that nobody registered, whose id isn't known.
    private mutating func app(id: String, key: String, into effects: inout [Effect]) -> ServerApp? {
        if newKeys.contains(key) { return apps.first { $0.key == key } }
        let named = apps.first { $0.id == id }
        if apps.contains(where: { $0.key == key }) { return named }
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

    private func listChannels(_ parameters: [String: String], app: ServerApp) throws(HTTPRefusal) -> JSONValue {
        let prefix = parameters["filter_by_prefix"] ?? ""
        if Attributes(parameters["info"]).contains(.userCount), !prefix.hasPrefix("presence-") {
            throw HTTPRefusal(status: 400, reason: "user_count may only be requested for presence channels")
        }
        let names = channels.keys.filter { $0.appKey == app.key && $0.name.hasPrefix(prefix) }.map(\.name)
        let listed = names.map { ($0, attributes(parameters["info"], of: $0, app: app)) }
        return .object(["channels": JSONValue(members: listed)])
    }

    private func describe(_ name: String, info: String?, app: ServerApp) throws(HTTPRefusal) -> JSONValue {
        if Attributes(info).contains(.userCount), ChannelName(name).kind != .presence {
            throw HTTPRefusal(status: 400, reason: "user_count may only be requested for presence channels")
        }
        var members = attributes(info, of: name, app: app).objectValue ?? [:]
        members["occupied"] = .bool(channels[ChannelKey(appKey: app.key, name: name)] != nil)
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
            for name in info?.split(separator: ",") ?? [] {
                switch name {
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
        let key = ChannelKey(appKey: app.key, name: name)
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
