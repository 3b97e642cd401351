import Foundation
import PusherChannels

/// The reason for refusing a connection, as its `pusher:error` and close frame say.
struct ConnectionRefusal: Error {
    let code: UInt16
    let message: String
    /// Indicates whether the connection is closed; if not, nothing more is sent to the client.
    var closes = true
}

extension ServerMachine {
    /// Finds the app that a connection's request asks for.
    mutating func admit(
        _ request: RecordedRequest, isSecure: Bool, into effects: inout [Effect]
    ) throws(ConnectionRefusal) -> ServerApp {
        let segments = request.path.utf8.split(separator: UInt8(ascii: "/"))
        // Self-hosted servers may sit behind a prefix, so only the end of the path counts.
        guard let key = segments.last.flatMap({ Substring($0).removingPercentEncoding }),
            segments.dropLast().last?.elementsEqual("app".utf8) == true
        else {
            throw ConnectionRefusal(code: 4005, message: "Path not found")
        }
        try checkVersions(request.queryFields)
        let app = try app(key: key, into: &effects)
        guard app.isEnabled else { throw ConnectionRefusal(code: 4003, message: "Application disabled") }
        guard isSecure || !app.requiresTLS else {
            throw ConnectionRefusal(code: 4000, message: "Application only accepts SSL connections, reconnect using wss://")
        }
        if let limit = app.maximumConnections, connections.values.count(where: { $0.app.hasKey(key) }) >= limit {
            throw ConnectionRefusal(code: 4004, message: "Application is over connection quota")
        }
        if let limit = profile.maximumConnections, connections.count >= limit {
            throw ConnectionRefusal(code: 4100, message: "Over capacity")
        }
        return app
    }

    private func checkVersions(_ parameters: [Name: String]) throws(ConnectionRefusal) {
        guard let version = parameters["protocol"] else {
            throw ConnectionRefusal(code: 4008, message: "No protocol version supplied")
        }
        guard let version = Int(version), profile.protocolVersions.contains(version) else {
            throw ConnectionRefusal(code: 4007, message: "Unsupported protocol version: \(version)")
        }
        if let version = parameters["version"], version.wholeMatch(of: #/\d+(\.\d+)*/#) == nil {
            throw ConnectionRefusal(code: 4006, message: "Invalid version string format: \(version)")
        }
    }

    /// Returns whether signatures for an app must be made with its secret.
    func checksSignatures(of app: ServerApp) -> Bool {
        admission != .anyKey(secret: nil) && !newKeys.contains(Name(app.key))
    }

    /// Makes an app for a key that nobody registered, if the server admits such keys.
    mutating func newApp(key: String, into effects: inout [Effect]) -> ServerApp? {
        guard admission == .registeredAppsAndNewOnes, !key.isEmpty else { return nil }
        let local = ServerApp.local
        var app = ServerApp(id: key, key: key, secret: local.secret, encryptionMasterKey: local.encryptionMasterKey)
        app.webhooks = webhooksOfNewApps
        apps.append(app)
        newKeys.insert(Name(key))
        effects.append(.notice(.newApp(key: key)))
        return app
    }

    private mutating func app(key: String, into effects: inout [Effect]) throws(ConnectionRefusal) -> ServerApp {
        if let app = apps.first(where: { $0.hasKey(key) }) ?? newApp(key: key, into: &effects) { return app }
        let secret: String?
        switch (admission, profile.unknownKeys) {
        case (.anyKey(let known), _): secret = known
        case (.registeredApps, .welcome), (.registeredAppsAndNewOnes, .welcome):
            if let first = apps.first { return first }
            secret = nil
        case (.registeredApps, .closed), (.registeredAppsAndNewOnes, .closed):
            throw ConnectionRefusal(code: 4001, message: "App key \(key) not in this cluster")
        case (.registeredApps, .told(let message)), (.registeredAppsAndNewOnes, .told(let message)):
            throw ConnectionRefusal(code: 4001, message: message, closes: false)
        }
        let app = ServerApp(id: key, key: key, secret: secret ?? "")
        apps.append(app)
        return app
    }

    /// Removes a connection from its channels and from the server.
    mutating func remove(_ id: ConnectionID, into effects: inout [Effect]) {
        for channel in connections[id]?.subscriptions.keys.sorted() ?? [] {
            leave(channel, id, into: &effects)
        }
        let connection = connections.removeValue(forKey: id)
        if let connection {
            socketIDsInUse.remove(connection.socketID)
            observe(.disconnected, appKey: connection.app.key, by: id)
        }
        if connections.isEmpty { nextDeadline = deadlineWithoutConnections }
        if let connection, let user = connection.user { announceDeparture(of: user, app: connection.app, into: &effects) }
    }
}
