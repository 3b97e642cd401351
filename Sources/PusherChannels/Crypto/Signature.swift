/// The signatures of the Channels protocol: `key:hex`, made with the app's secret.
///
/// Servers make them; so do ``AuthMethod/inline(secret:)`` and the local test server. Whoever asks for one may have chosen the
/// socket id, so both throw a ``PusherError`` unless it is two numbers with a dot between them.
package enum Signature {
    /// Returns the signature for a private channel, or for a presence channel with the exact `channel_data` that will be sent.
    package static func channel(
        _ channel: String, channelData: String? = nil, socketID: String, key: String, secret: String
    ) throws(PusherError) -> String {
        try SocketID.checkBeforeSigning(socketID)
        let suffix = channelData.map { ":\($0)" } ?? ""
        return "\(key):\(hmacSHA256("\(socketID):\(channel)\(suffix)", key: secret))"
    }

    /// Returns the signature for signing a user in.
    package static func user(_ userData: String, socketID: String, key: String, secret: String) throws(PusherError) -> String {
        try SocketID.checkBeforeSigning(socketID)
        return "\(key):\(hmacSHA256("\(socketID)::user::\(userData)", key: secret))"
    }

    /// Returns the signature for an HTTP API request; `query` is every parameter but `auth_signature`.
    package static func request(
        method: String, path: String, query: some Sequence<(key: String, value: String)>, secret: String
    ) -> String {
        let parameters =
            query
            .map { ($0.key.lowercased(), $0.value) }
            .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
            .map { "\($0.0)=\($0.1)" }
            .joined(separator: "&")
        return hmacSHA256("\(method)\n\(path)\n\(parameters)", key: secret)
    }
}
