/// What is said to a proxy, and what its refusals mean.
extension HTTPProxy {
    /// The field that shows the credentials; none without.
    var authorization: [(name: String, value: String)] {
        guard let credentials else { return [] }
        return [("Proxy-Authorization", basicAuthorization(credentials.user, credentials.password))]
    }

    /// What is reported when it answers something with a status that is its own.
    func refusal(_ status: Int, to request: String) -> WebSocketFailure {
        let hint =
            switch (status, credentials) {
            case (407, nil): " (it wants credentials)"
            case (407, _): " (it doesn't take the credentials)"
            default: ""
            }
        return WebSocketFailure(.proxyRefused(status: status), "Proxy \(self) answered \(request) with HTTP \(status)\(hint)")
    }
}

/// Credentials as the "Basic" scheme shows them (RFC 7617).
func basicAuthorization(_ user: String, _ password: String) -> String {
    "Basic \(base64(Array("\(user):\(password)".utf8)))"
}
