import Foundation

/// Where a connection goes: the server's address and the application's key.
struct ConnectionTarget: Sendable {
    let key: String
    let host: String
    let port: Int?
    let path: String?

    /// The upgrade request: `/app/{key}` behind the path prefix, with the protocol's version and this library's.
    func request(secure: Bool) -> WebSocketRequest {
        let prefix = (path ?? "").split(separator: "/").map { "/" + Self.encode(String($0)) }.joined()
        let query = "protocol=7&client=swift-pusher-channels&version=\(libraryVersion)"
        return WebSocketRequest(
            secure: secure, host: host, port: port ?? (secure ? 443 : 80),
            path: "\(prefix)/app/\(Self.encode(key))?\(query)")
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    private static func encode(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }
}
