import Foundation

/// Requests to a proxy, and the meaning of its refusals.
extension HTTPProxy {
    /// The field that shows the credentials; none without.
    var authorization: [(name: String, value: String)] {
        guard let credentials else { return [] }
        return [("Proxy-Authorization", basicAuthorization(credentials.user, credentials.password))]
    }

    /// The failure that is reported when it gives a response of its own.
    func refusal(_ status: Int, to request: String) -> WebSocketFailure {
        let hint =
            switch (status, credentials) {
            case (407, nil): " (it wants credentials)"
            // With 401 tinyproxy refuses credentials, with 407 all others do (RFC 9110, 15.5.8). A relay's 401 is the server's.
            case (407, _), (401, .some): " (it doesn't take the credentials)"
            default: ""
            }
        return WebSocketFailure(.proxyRefused(status: status), "Proxy \(self) answered \(request) with HTTP \(status)\(hint)")
    }
}

/// Credentials as the "Basic" scheme shows them (RFC 7617).
func basicAuthorization(_ user: String, _ password: String) -> String {
    "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
}
