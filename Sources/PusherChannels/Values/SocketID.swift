/// The id that a server gave a connection.
///
/// A peer chooses it, and it becomes a part of signed texts, forms, addresses, and log lines. So it can only be made from a text
/// that is harmless in all of them.
struct SocketID: Hashable, Sendable, CustomStringConvertible {
    /// The text as the server sent it.
    let text: String

    /// Creates an id of letters, digits, `.`, `-`, and `_`, 128 of them at most; nil for any other text.
    init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(\.isAllowedInSocketID) else { return nil }
        self.text = text
    }

    var description: String { text }

    /// Checks the id at the beginning of a text that a secret signs: two numbers with a dot between them.
    ///
    /// Any other beginning could turn the signature into one for something else, such as a request to the HTTP API.
    static func checkBeforeSigning(_ text: String) throws(PusherError) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isDigit) }) else {
            throw PusherError(
                .invalidRequest,
                message: "\"\(text.inLogLine(upTo: 60))\" isn't a socket id: that is two numbers with a dot between them")
        }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isAllowedInSocketID: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: isDigit
        }
    }
}
