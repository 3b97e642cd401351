/// The key of an encrypted channel in base64, as its authorisation gave it. It is never shown.
struct SharedSecret: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    let base64: String

    var description: String { "SharedSecret" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
