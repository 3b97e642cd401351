/// A message from the client to the server.
package enum ClientMessage: Equatable, Sendable {
    case ping
    case pong
    /// `auth` and `channelData` are passed on byte for byte as the authorization gave them.
    case subscribe(channel: String, auth: String?, channelData: String?)
    case unsubscribe(channel: String)
    case signIn(auth: String, userData: String)
    /// `data` is JSON text, put into the frame as a value, never as a string holding JSON.
    case clientEvent(name: String, channel: String, data: String)
}
