import PusherChannels

/// An app's backend at its authorization endpoints. It reads the form, or the JSON in its place, and signs correctly.
struct Authorization {
    let app: ServerApp
    /// The user id if the form names none. Without either, the socket id is used.
    var defaultUserID: String?

    /// Signs for a channel, as `POST /pusher/auth` does.
    func channel(_ form: [Name: String]) throws(HTTPRefusal) -> JSONValue {
        let socketID = form["socket_id"] ?? ""
        guard let name = form["channel_name"], !name.isEmpty else {
            throw HTTPRefusal(status: 400, reason: "Missing: channel_name")
        }
        let channel = ChannelName(name)
        guard channel.needsAuthorization else {
            throw HTTPRefusal(status: 403, reason: "Only private and presence channels are signed, not \(name)")
        }
        let request = PusherAuthRequest(socketID: socketID, channelName: name)
        guard !app.denies(channel: name), app.authorizes(request, form["user_id"]) else {
            throw HTTPRefusal(status: 403, reason: "Forbidden: \(name)")
        }
        let data = channel.kind == .presence ? try channelData(form, socketID: socketID) : nil
        let auth = try signed { () throws(PusherError) in
            try Signature.channel(name, channelData: data, socketID: socketID, key: app.key, secret: app.secret)
        }
        var reply: [Name: JSONValue] = ["auth": .string(auth)]
        reply["channel_data"] = data.map { .string($0) }
        reply["shared_secret"] = try sharedSecret(channel).map { .string($0) }
        return .object(reply)
    }

    /// Signs for a user, as `POST /pusher/user-auth` does.
    func user(_ form: [Name: String]) throws(HTTPRefusal) -> JSONValue {
        let socketID = form["socket_id"] ?? ""
        let id = form["user_id"] ?? defaultUserID ?? socketID
        guard !app.denies(user: id) else { throw HTTPRefusal(status: 403, reason: "Forbidden: user \(id)") }
        var user: [Name: JSONValue] = ["id": .string(id)]
        user["user_info"] = try value("user_info", of: form)
        user["watchlist"] = try value("watchlist", of: form)
        let data = JSONValue.object(user).text
        let auth = try signed { () throws(PusherError) in
            try Signature.user(data, socketID: socketID, key: app.key, secret: app.secret)
        }
        return .object(["auth": .string(auth), "user_data": .string(data)])
    }

    /// Returns the backend's response to a posted form, for a channel or a user.
    ///
    /// - Parameter note: A closure that is called with the reason of a refusal, because clients don't read its text.
    func response(to request: RecordedRequest, note: (String) -> Void = { _ in }) -> StubResponse {
        do throws(HTTPRefusal) {
            let form = request.authorizationFields
            return .json(try form["channel_name"] == nil ? user(form) : channel(form))
        } catch {
            note("authorizes nothing: \(error.reason)")
            return StubResponse(status: error.status, text: error.reason)
        }
    }

    private func sharedSecret(_ channel: ChannelName) throws(HTTPRefusal) -> String? {
        guard channel.kind == .encrypted else { return nil }
        guard let secret = app.sharedSecret(of: channel) else {
            throw HTTPRefusal(status: 500, reason: "\(app) has no master key of 32 bytes in base64 for encrypted channels")
        }
        return secret.base64
    }

    private func channelData(_ form: [Name: String], socketID: String) throws(HTTPRefusal) -> String {
        let id = form["user_id"] ?? defaultUserID ?? socketID
        return JSONValue.object(["user_id": .string(id), "user_info": try value("user_info", of: form) ?? [:]]).text
    }

    private func value(_ name: Name, of form: [Name: String]) throws(HTTPRefusal) -> JSONValue? {
        do {
            return try form[name].map(JSONValue.init(parsing:))
        } catch {
            throw HTTPRefusal(status: 400, reason: "\(name) is not JSON: \(error)")
        }
    }

    private func signed(_ sign: () throws(PusherError) -> String) throws(HTTPRefusal) -> String {
        do throws(PusherError) {
            return try sign()
        } catch {
            throw HTTPRefusal(status: 400, reason: "Missing or invalid: socket_id")
        }
    }
}

extension ServerMachine {
    /// Responds to `POST /pusher/auth` and `POST /pusher/user-auth`, the endpoints of all apps' backends. Returns `nil` for other
    /// paths.
    func authorize(_ request: RecordedRequest) throws(HTTPRefusal) -> JSONValue? {
        let path = Name(request.path)
        guard path == "/pusher/auth" || path == "/pusher/user-auth" else { return nil }
        guard Name(request.method) == "POST" else {
            throw HTTPRefusal(status: 405, reason: "The authorization endpoint takes POST")
        }
        let form = request.authorizationFields
        // The socket id tells which app the request is for.
        let connection = form["socket_id"].flatMap { id in connections.values.first { $0.socketID.hasBytes(of: id) } }
        guard let app = connection?.app ?? apps.first else {
            throw HTTPRefusal(status: 404, reason: "There is no app")
        }
        let authorization = Authorization(app: app)
        return path == "/pusher/auth" ? try authorization.channel(form) : try authorization.user(form)
    }
}
