/// The channel or the user that the endpoint is asked to authorize.
enum AuthorizationSubject: Equatable {
    case channel(String)
    case user

    static let statuses = [
        200, 200, 200, 201, 299, 100, 199, 204, 300, 302, 400, 401, 403, 404, 408, 425, 429, 500, 503, 599, 999,
    ]

    init(_ choice: Int) {
        let channels = ["private-room", "presence-room", "private-encrypted-room"]
        self = choice & 3 == 3 ? .user : .channel(channels[choice & 3])
    }

    /// Returns the authorization in a body, in the order auth, data, secret, or nil if there is none.
    func authorization(in body: String) -> [String?]? {
        guard let json = JSONValue(ifJSON: body), let auth = json["auth"]?.stringValue else { return nil }
        switch self {
        case .user:
            guard let userData = json["user_data"]?.stringValue else { return nil }
            return [auth, userData, nil]
        case .channel(let channel):
            for name in ["channel_data", "shared_secret"] where json[name].map({ $0 != .null && $0.stringValue == nil }) == true {
                return nil
            }
            let secret = json["shared_secret"]?.stringValue
            if channel.hasPrefix("private-encrypted-"), secret.map({ SharedSecret(base64: $0).bytes?.count }) != 32 { return nil }
            return [auth, json["channel_data"]?.stringValue, secret]
        }
    }
}
