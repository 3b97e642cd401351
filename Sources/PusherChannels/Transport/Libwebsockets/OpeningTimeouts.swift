/// How long the parts of opening a connection may take.
struct OpeningTimeouts {
    /// Each stage: finding addresses, being accepted, the proxy's answer, the TLS handshake, the upgrade's answer.
    var stage = Duration.seconds(20)
    /// Being accepted, if there is another address to try.
    var address = Duration.seconds(5)
}
