/// How long the parts of opening a connection may take.
struct ConnectTimeouts {
    /// Each stage: finding addresses, being accepted, the proxy's answer, the TLS handshake, the upgrade's answer.
    var stage = Duration.seconds(20)
    /// Being accepted, if there is another address to try.
    var address = Duration.seconds(5)
    /// All addresses but the last together: a client gives an attempt fifteen seconds, and the last one's turn has to come, too.
    var addresses = Duration.seconds(8)

    /// Being accepted at one of so many addresses that isn't the last.
    func address(of count: Int) -> Duration { min(address, addresses / max(count - 1, 1)) }
}
