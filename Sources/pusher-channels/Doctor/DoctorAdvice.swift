import PusherChannels

extension DoctorRoute {
    /// Returns the advice about a step that failed with an error.
    func advice(on step: DoctorStep, _ error: PusherError) -> String {
        let hop = proxy == nil ? "server" : "proxy"
        switch step {
        case .options: return "Correct what the message names."
        case .name: return "Check the spelling of the \(hop)'s name, and this machine's name server (/etc/resolv.conf)."
        case .address:
            return
                "Check this machine's network and its routes; and its limit on open files (ulimit -n), if the message names that."
        case .tcp:
            return "Check that the \(hop) is running, its port, and whether a firewall in between blocks it."
        case .proxy: return proxyAdvice(error)
        case .tls: return tlsAdvice(error)
        case .upgrade: return upgradeAdvice(error)
        case .protocol: return protocolAdvice(error)
        case .authorization: return authorizationAdvice(error)
        case .subscription:
            return
                "Check that the signing secret belongs to the app with this key, and that the endpoint signs for the same app."
        }
    }

    private func proxyAdvice(_ error: PusherError) -> String {
        switch error.kind {
        case .transport(.proxyRefused(status: 407)):
            "Give the proxy's user and password: --proxy http://user:password@host:port, or better in $https_proxy."
        case .transport(.proxyRefused(status: 502...504)): "Check the server's name and port, because the proxy can't reach it."
        case .transport(.proxyRefused): "Have the proxy's owner allow CONNECT to \(endpoint); --proxy none connects without it."
        default: "Check that an HTTP proxy listens on that port; --proxy none connects without it."
        }
    }

    private func tlsAdvice(_ error: PusherError) -> String {
        guard case .transport(.tlsFailed(let reason)) = error.kind else {
            return "Check that the port is the server's TLS port, and whether something on the way blocks TLS."
        }
        switch reason {
        case .untrustedAuthority, .selfSigned:
            return
                "Pass the authority's certificate with --ca-file, or have the server send all certificates up to a trusted one."
        case .certificateExpired: return "Have the server's certificate renewed; check this machine's clock."
        case .certificateNotYetValid: return "Check this machine's clock, and the server's certificate."
        case .wrongHost: return "Use a name that is in the certificate, or have one issued for \(host)."
        case .clientCertificateRequired, .clientCertificateRefused:
            return "Give your client a certificate that the server accepts (TLSConfiguration); this command has none."
        case .unsupportedVersion: return "Have the server speak TLS 1.2 or 1.3."
        case .notTLS: return "Check the port: it doesn't speak TLS. --no-tls connects without TLS."
        case .handshakeFailed:
            return "If that port doesn't use TLS, add --no-tls; otherwise, openssl s_client -connect \(endpoint) shows more."
        case .publicKeyNotPinned, .certificateRejected, .invalidConfiguration:
            return "Check the port and the server's TLS; openssl s_client -connect \(endpoint) shows more."
        }
    }

    private func upgradeAdvice(_ error: PusherError) -> String {
        switch error.kind {
        case .transport(.upgradeRefused(status: 300...399)): "Use the address that the server sends clients to."
        case .transport(.upgradeRefused(status: 401)):
            "Something in front of the Channels server wants credentials: have it let WebSockets through."
        case .transport(.upgradeRefused(status: 403)):
            "If this is serve, it needs --allow-host \(host). Otherwise, something in front of the Channels server wants credentials."
        case .transport(.upgradeRefused(status: 500...599)): "Check the server, or what forwards to it: it is busy or broken."
        case .transport(.upgradeRefused):
            "Check host, port and --path: this isn't a Channels server; a proxy in front of one must forward upgrades."
        default:
            usesTLS
                ? "Check host and port; a proxy in front of the server must forward upgrades."
                : "Check host and port; if that port uses TLS, add --tls. A proxy in front of the server must forward upgrades."
        }
    }

    private func protocolAdvice(_ error: PusherError) -> String {
        switch (error.kind, error.code) {
        case (.server, 4001): "Check --key, and that --cluster or --host is where its app lives."
        case (.server, 4003): "Enable the app."
        case (.server, 4004): "Close clients of the app, or raise its limit."
        case (.server, 4005): "Check --path: a server behind a proxy may have one."
        case (.server, 4009): "Check the origins that the app allows, such as Reverb's allowed_origins: this client names none."
        case (.server, 4007): "Use a server that speaks version 7 of the protocol."
        case (.server, (4100...4299)?), (.attemptsExhausted, _):
            "The server asks clients to come back: it is starting, stopping or too busy. Try again; if that persists, look at its log."
        case (.timedOut, _): "Check that the host is a Channels server: it speaks WebSocket, but sends nothing."
        case (.transport(.connectionLost), _) where error.message.contains("neither had a message"):
            "Check --key, and that its app is enabled: otherwise some servers, such as Sockudo, hang up without an error."
        default: "Look at the server's log."
        }
    }

    private func authorizationAdvice(_ error: PusherError) -> String {
        switch error.code {
        case 401, 403:
            "The endpoint refuses: it may want a session or a token, which this command doesn't have; also check --channel."
        case 404, 405: "Check the path of --auth-endpoint: it must accept POST."
        case 200: "The endpoint must respond with JSON that has a string \"auth\": check what is at that address."
        case let status? where (500...599).contains(status): "Look at the endpoint's log."
        default: "Check --auth-endpoint: its host, its port, its certificate, and that it responds."
        }
    }
}
