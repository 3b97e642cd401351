#if canImport(CSodium)
import CSodium

/// The initialization that libsodium wants of all who use it.
enum Sodium {
    /// Once, before anything else: it chooses what this processor is good at, and what makes it safe to be used by many threads.
    static func prepare() { _ = isPrepared }

    private static let isPrepared = sodium_init() >= 0

    /// Overwrites a copy of something secret that was made here. What the user gave us is the user's.
    static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) }
    }
}
#endif
