/// A client's request to an app's backend: to authorize a connection for a channel, or to authenticate its user.
///
/// A request is a claim that hasn't been checked. ``PusherAuthenticator`` checks it before signing. Identify the user by the HTTP
/// request that brought it, for example by its session.
public struct PusherAuthRequest: Equatable, Sendable {
    /// The connection.
    public let socketID: String
    /// The channel that the connection wants to join; nil when a user signs in.
    public let channelName: String?

    /// Creates a request from fields that were read in another way.
    public init(socketID: String, channelName: String? = nil) {
        self.socketID = socketID
        self.channelName = channelName
    }

    /// Reads the body of a client's POST: a form, which all official clients send, or a JSON object. The query of a JSONP request
    /// is read the same way.
    ///
    /// Other fields are ignored. Each field may occur only once.
    ///
    /// - Throws: A ``PusherError`` of kind `invalidRequest`, which a backend answers with status 400.
    public init(body: some Sequence<UInt8>) throws(PusherError) {
        let bytes = Array(body)
        let first = bytes.first { ![UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains($0) }
        let fields = first == UInt8(ascii: "{") ? try Self.json(bytes) : try Self.form(bytes)
        guard let socketID = fields.socketID else { throw Self.unreadable("it has no socket_id") }
        self.init(socketID: socketID, channelName: fields.channelName)
    }

    private typealias Fields = (socketID: String?, channelName: String?)

    private static func json(_ bytes: [UInt8]) throws(PusherError) -> Fields {
        guard let json = try? JSONValue(parsing: String(decoding: bytes, as: UTF8.self)) else {
            throw unreadable("it isn't JSON")
        }
        let names = bytes.withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            return scanner.memberNames()
        }
        return (try string("socket_id", in: json, names), try string("channel_name", in: json, names))
    }

    private static func string(_ name: Name, in json: JSONValue, _ names: [Name]) throws(PusherError) -> String? {
        guard names.filter({ $0 == name }).count <= 1 else { throw twice(name.text) }
        return switch json[name] {
        case nil, .null: nil
        case .string(let text): text
        default: throw unreadable("its \(name) isn't a text")
        }
    }

    private static func form(_ bytes: [UInt8]) throws(PusherError) -> Fields {
        var fields: Fields = (nil, nil)
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = formDecoded(parts[0]) else { continue }
            if name.hasBytes(of: "socket_id") {
                try take(parts[1], as: &fields.socketID, name)
            } else if name.hasBytes(of: "channel_name") {
                try take(parts[1], as: &fields.channelName, name)
            }
        }
        return fields
    }

    /// Reads a field that may occur only once: of two values, one reader could use the first, and another the last.
    private static func take(_ value: ArraySlice<UInt8>, as field: inout String?, _ name: String) throws(PusherError) {
        guard field == nil else { throw twice(name) }
        guard let text = formDecoded(value) else { throw unreadable("its \(name) is not percent-encoded UTF-8") }
        field = text
    }

    private static func twice(_ name: String) -> PusherError { unreadable("its \(name) is there twice") }

    private static func unreadable(_ problem: String) -> PusherError {
        PusherError(.invalidRequest, message: "the body of the authorization request can't be used: \(problem)")
    }
}
