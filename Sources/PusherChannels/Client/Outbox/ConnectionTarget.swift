/// The request that opens a connection: the server's request with the application's path.
struct ConnectionTarget: Sendable {
    let key: String
    let pathPrefix: String?
    /// Makes the request without its path.
    let request: @Sendable (_ secure: Bool) -> WebSocketRequest

    /// Returns the upgrade request: `/app/{key}` after the path prefix, with the versions of the protocol and of this library.
    func request(secure: Bool) -> WebSocketRequest {
        let prefix = (pathPrefix ?? "").split(separator: "/").map { "/" + String($0).percentEncoded() }.joined()
        let query = "protocol=7&client=swift-pusher-channels&version=\(libraryVersion)"
        var request = request(secure)
        request.path = "\(prefix)/app/\(key.percentEncoded())?\(query)"
        return request
    }
}
