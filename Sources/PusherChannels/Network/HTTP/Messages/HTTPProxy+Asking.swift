import Foundation

/// Requests to a proxy, and the meaning of its refusals.
extension HTTPProxy {
    /// The field with the credentials; empty if there are none.
    var authorization: [(name: String, value: String)] {
        guard let credentials else { return [] }
        return [("Proxy-Authorization", basicAuthorization(credentials.user, credentials.password))]
    }

    /// Returns the failure to report for a response that the proxy itself gives.
    func refusal(_ status: Int, to request: String) -> TransportError {
        let hint =
            switch (status, credentials) {
            case (407, nil): " (it wants credentials)"
            // tinyproxy refuses credentials with 401, all others with 407 (RFC 9110, 15.5.8). A 401 that a proxy forwards is the
            // server's.
            case (407, _), (401, .some): " (it doesn't take the credentials)"
            default: ""
            }
        return TransportError(.proxyRefused(status: status), "Proxy \(self) answered \(request) with HTTP \(status)\(hint)")
    }
}

/// Returns credentials in the form of the "Basic" scheme (RFC 7617).
func basicAuthorization(_ user: String, _ password: String) -> String {
    "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
}
