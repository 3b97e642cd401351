/// The key of an encrypted channel in base64, as its authorization gave it. It is never shown.
package struct SharedSecret: Equatable, Sendable {
    private let key: Secret<String>

    package init(base64: String) {
        key = Secret(base64)
    }

    package var base64: String { key.value }
}
