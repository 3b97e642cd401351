/// The application's calls that wait for something.
struct Waits {
    var subscriptions = SubscriptionWaits()
    var runs = Runs()
    /// Called once everything that was read before the client was shut down is decrypted.
    var decryption: [@Sendable () -> Void] = []

    /// Appends the closures that resume the calls whose wait is over.
    mutating func takeWakeUps(isDecrypting: Bool, into wakeUps: inout [() -> Void]) {
        subscriptions.takeWakeUps(into: &wakeUps)
        runs.takeWakeUps(into: &wakeUps)
        guard !isDecrypting, !decryption.isEmpty else { return }
        // One by one, as Swift converts a list of `@Sendable` closures at run time, which ends the process.
        for wait in decryption { wakeUps.append(wait) }
        decryption = []
    }
}
