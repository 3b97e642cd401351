import Foundation
import PusherChannels

/// The reason for refusing a connection, as its `pusher:error` and close frame say.
struct ConnectionRefusal: Error {
    let code: UInt16
    let message: String
    /// The occasion, for the profile's own answer.
    var occasion = ServerProfile.Occasion.unknownKey
    /// The key that nobody has.
    var key = ""
}

extension ServerMachine {
    /// Finds the app that a connection's request asks for.
    mutating func admit(
        _ request: RecordedRequest, isSecure: Bool
    ) throws(ConnectionRefusal) -> ServerApp {
        guard let key = request.appKey else {
            let occasion = request.pathOccasion
            if profile.accepts(occasion), let first = apps.first { return first }
            throw ConnectionRefusal(code: 4005, message: "Path not found", occasion: occasion)
        }
        try checkVersions(request.queryFields)
        let app = try app(key: key)
        guard app.isEnabled else { throw ConnectionRefusal(code: 4003, message: "Application disabled", occasion: .disabled) }
        guard isSecure || !app.requiresTLS else {
            let message = "Application only accepts SSL connections, reconnect using wss://"
            throw ConnectionRefusal(code: 4000, message: message, occasion: .withoutTLS)
        }
        if let limit = app.maximumConnections, connections.values.count(where: { $0.app.hasKey(key) }) >= limit {
            throw ConnectionRefusal(code: 4004, message: "Application is over connection quota", occasion: .overQuota)
        }
        if let limit = profile.maximumConnections, connections.count >= limit {
            throw ConnectionRefusal(code: 4100, message: "Over capacity", occasion: .overCapacity)
        }
        return app
    }

    private func checkVersions(_ parameters: [Name: String]) throws(ConnectionRefusal) {
        if let version = parameters["protocol"] {
            let number = Int(version)
            let occasion: ServerProfile.Occasion = number == nil ? .unreadableProtocol : .unsupportedProtocol
            guard number.map(profile.protocolVersions.contains) ?? false || profile.accepts(occasion) else {
                throw ConnectionRefusal(code: 4007, message: "Unsupported protocol version: \(version)", occasion: occasion)
            }
        } else if !profile.accepts(.noProtocol) {
            throw ConnectionRefusal(code: 4008, message: "No protocol version supplied", occasion: .noProtocol)
        }
        if let version = parameters["version"], version.wholeMatch(of: #/\d+(\.\d+)*/#) == nil {
            throw ConnectionRefusal(code: 4006, message: "Invalid version string format: \(version)", occasion: .version)
        }
    }

    /// Returns whether signatures for an app must be made with its secret.
    func checksSignatures(of app: ServerApp) -> Bool {
        admission != .anyKey(secret: nil) && !newKeys.contains(Name(app.key))
    }

    /// Makes an app for a key that nobody registered, if the server admits such keys.
    mutating func newApp(key: String) -> ServerApp? {
        guard admission == .registeredAppsAndNewOnes, !key.isEmpty else { return nil }
        let local = ServerApp.local
        var app = ServerApp(id: key, key: key, secret: local.secret, encryptionMasterKey: local.encryptionMasterKey)
        app.webhooks = webhooksOfNewApps
        apps.append(app)
        newKeys.insert(Name(key))
        effects.append(.notice(.newApp(key: key)))
        return app
    }

    private mutating func app(key: String) throws(ConnectionRefusal) -> ServerApp {
        if let app = apps.first(where: { $0.hasKey(key) }) ?? newApp(key: key) { return app }
        var secret: String?
        if case .anyKey(let known) = admission {
            secret = known
        } else if !profile.accepts(.unknownKey) {
            throw ConnectionRefusal(code: 4001, message: "App key \(key) not in this cluster", key: key.shortened)
        } else if let first = apps.first {
            return first
        }
        let app = ServerApp(id: key, key: key, secret: secret ?? "")
        apps.append(app)
        return app
    }

    /// Removes a connection from its channels and from the server.
    mutating func remove(_ id: ConnectionID) {
        for channel in connections[id]?.subscriptions.keys.sorted() ?? [] {
            leave(channel, id)
        }
        let connection = connections.removeValue(forKey: id)
        if let connection {
            socketIDsInUse.remove(connection.socketID)
            observe(.disconnected, appKey: connection.app.key, by: id)
        }
        if connections.isEmpty { nextDeadline = deadlineWithoutConnections }
        if let connection, let user = connection.user { announceDeparture(of: user, app: connection.app) }
    }
}

extension RecordedRequest {
    /// The key at the end of a WebSocket's path. Self-hosted servers may sit behind a prefix, so only the end counts.
    fileprivate var appKey: String? {
        let segments = path.utf8.split(separator: UInt8(ascii: "/"))
        guard segments.dropLast().last?.elementsEqual("app".utf8) == true else { return nil }
        return segments.last.flatMap { Substring($0).removingPercentEncoding }
    }

    fileprivate var pathOccasion: ServerProfile.Occasion {
        path.utf8.split(separator: UInt8(ascii: "/")).last?.elementsEqual("app".utf8) == true ? .noKey : .otherPath
    }
}

extension ServerMachine {
    /// Returns the response of a server that doesn't upgrade a request; `nil` if it does.
    func upgradeRefusal(of request: RecordedRequest) -> StubResponse? {
        guard let key = request.appKey else { return profile.response(request.pathOccasion) }
        if admission == .registeredApps, !apps.contains(where: { $0.hasKey(key) }), let refusal = profile.response(.unknownKey) {
            return refusal
        }
        guard let version = request.queryFields["protocol"], Int(version) == nil else { return nil }
        return profile.response(.unreadableProtocol)
    }
}
