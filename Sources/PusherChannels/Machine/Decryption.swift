/// What is known of all encrypted channels together.
struct Decryption: Equatable, Sendable {
    /// The number of the latest event that was handed to the decrypting thread.
    private(set) var number: EncryptedEvents.Number = 0
    /// The events that were read before the client was shut down and are still to be decrypted.
    var lastEvents: [Name: EncryptedEvents] = [:]
    /// Channels with so much left to decrypt that the server is made to wait.
    var crowded: Set<Name> = []

    mutating func nextNumber() -> EncryptedEvents.Number {
        number += 1
        return number
    }
}
