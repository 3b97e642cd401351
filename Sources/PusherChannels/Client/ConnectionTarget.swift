/// The request that opens a connection: the server's, with the path of the application.
struct ConnectionTarget: Sendable {
    let key: String
    let pathPrefix: String?
    /// Makes the request, but for the path.
    let request: @Sendable (_ secure: Bool) -> WebSocketRequest

    /// The upgrade request: `/app/{key}` behind the path prefix, with the protocol's version and this library's.
    func request(secure: Bool) -> WebSocketRequest {
        let prefix = (pathPrefix ?? "").split(separator: "/").map { "/" + String($0).percentEncoded() }.joined()
        let query = "protocol=7&client=swift-pusher-channels&version=\(libraryVersion)"
        var request = request(secure)
        request.path = "\(prefix)/app/\(key.percentEncoded())?\(query)"
        return request
    }
}
