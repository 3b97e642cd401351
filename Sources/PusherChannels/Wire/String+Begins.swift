extension String {
    /// Whether it begins with the bytes of another text, as names of a protocol do. `hasPrefix` knows Unicode: to it, a colon with
    /// an accent behind it is another character.
    func begins(with prefix: String) -> Bool {
        utf8.starts(with: prefix.utf8)
    }
}
