/// The key of an encrypted channel in base64, as its authorisation gave it. It is never shown.
package struct SharedSecret: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    package let base64: String

    package init(base64: String) {
        self.base64 = base64
    }

    package var description: String { "SharedSecret" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
