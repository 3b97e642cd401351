import PusherChannels

/// Tells an error message about a secret from the secret itself: `{"password": ["is too short"]}`, `Invalid token: expired`.
enum Complaint {
    /// The words that such messages begin with.
    private static let words: Set<String> = [
        "expected", "expired", "invalid", "missing", "malformed", "mismatch", "required", "unknown", "wrong", "incorrect",
        "revoked",
        "unauthorized", "is", "was", "must", "should", "not", "has", "can't", "cannot", "does", "doesn't", "isn't", "too", "you",
    ]

    /// Returns whether a text begins like an error message.
    static func begins(_ text: some Collection<UInt8>) -> Bool {
        let word = text.prefix { $0 != UInt8(ascii: " ") }
        return words.contains(String(decoding: word, as: UTF8.self).lowercased().trimmingSuffix(".,;:!"))
    }

    /// Returns whether a value is a server's complaint about a field: a list of messages, each of which begins like an error
    /// message.
    static func isOne(_ value: JSONValue) -> Bool {
        guard case .array(let messages) = value, !messages.isEmpty else { return false }
        return messages.allSatisfy { message in
            guard let text = message.stringValue, begins(text.utf8) else { return false }
            return text.allSatisfy { $0.isLetter || $0.isWholeNumber || " '’.,;:!()-".contains($0) }
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ characters: String) -> String {
        String(prefix(upTo: lastIndex { !characters.contains($0) }.map(index(after:)) ?? startIndex))
    }
}
