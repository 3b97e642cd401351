import Foundation
import Logging

#if Configuration
import Configuration
#endif

/// An app's key and server, as services are told them: by environment variables or, with the trait `Configuration`, by
/// swift-configuration.
///
/// | Variable | Key | |
/// |---|---|---|
/// | `PUSHER_URL` | `pusher.url` | all in one: `https://KEY:SECRET@HOST:PORT/apps/APP_ID`, as Pusher's dashboard and Heroku have it |
/// | `PUSHER_KEY` | `pusher.key` | the app's key |
/// | `PUSHER_APP_ID`, `PUSHER_SECRET` | `pusher.appId`, `pusher.secret` | for the HTTP API |
/// | `PUSHER_CLUSTER` | `pusher.cluster` | the hosted service's cluster |
/// | `PUSHER_HOST` | `pusher.host` | a server of your own |
/// | `PUSHER_PORT` | `pusher.port` | the port of a server of your own, also the URL's: 443 with TLS and 80 without, if nothing else is said |
/// | `PUSHER_TLS` | `pusher.tls` | 1 or 0, for a server of your own, also the URL's: 0 if nothing is said |
/// | `PUSHER_ENCRYPTION_MASTER_KEY` | `pusher.encryptionMasterKey` | of encrypted channels, in base64; several are separated by commas |
///
/// A variable of its own counts more than its part of the URL, and a server that is named takes the place of the URL's. With
/// `PUSHER_CLUSTER`, host, port and TLS count for nothing. An empty value is none. No description and no error shows a secret.
public struct PusherSettings: Sendable, CustomStringConvertible {
    /// The app's key.
    public let key: String
    /// The server.
    public let server: PusherServer
    private let appID: String?
    private let secret: Secret<String>?
    private let encryptionMasterKeys: [EncryptionMasterKey]

    /// Reads the variables of an environment.
    ///
    /// - Throws: A ``PusherError`` of kind `invalidRequest` that names the variable.
    public init(environment variables: [String: String] = ProcessInfo.processInfo.environment) throws(PusherError) {
        try self.init { name in variables[name.variable] }
    }

    #if Configuration
    /// Reads the keys of a configuration. Those that are secrets are read as such.
    ///
    /// - Throws: A ``PusherError`` of kind `invalidRequest` that names the variable.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public init(config: ConfigReader) throws(PusherError) {
        try self.init { name in
            let key = ConfigKey(["pusher", name.rawValue])
            if let text = config.string(forKey: key, isSecret: name.isSecret) { return text }
            // A file has numbers and booleans, too.
            return switch name {
            case .port: config.int(forKey: key).map { "\($0)" }
            case .tls: config.bool(forKey: key).map { $0 ? "1" : "0" }
            default: nil
            }
        }
    }
    #endif

    private enum Setting: String {
        case url, key, appId, secret, cluster, host, port, tls, encryptionMasterKey

        var isSecret: Bool { self == .url || self == .secret || self == .encryptionMasterKey }

        var variable: String {
            switch self {
            case .appId: "PUSHER_APP_ID"
            case .encryptionMasterKey: "PUSHER_ENCRYPTION_MASTER_KEY"
            default: "PUSHER_\(rawValue.uppercased())"
            }
        }

        func unusable(_ value: String, _ need: String) -> PusherError {
            PusherError(.invalidRequest, message: "\(variable) is \"\(value)\", not \(need)")
        }

        var missing: PusherError { PusherError(.invalidRequest, message: "\(variable) is not set") }
    }

    private init(_ read: (Setting) -> String?) throws(PusherError) {
        func value(_ setting: Setting) -> String? { read(setting).flatMap { $0.isEmpty ? nil : $0 } }
        let url = try value(.url).map { text throws(PusherError) in try AppURL(text) }
        guard let key = value(.key) ?? url?.key else { throw Setting.key.missing }
        self.key = key
        appID = value(.appId) ?? url?.appID
        secret = (value(.secret) ?? url?.secret).map { Secret($0) }
        let masterKeys = value(.encryptionMasterKey)?.split(separator: ",") ?? []
        encryptionMasterKeys = try masterKeys.map { text throws(PusherError) in
            do throws(PusherError) {
                return try EncryptionMasterKey(base64: String(text))
            } catch {
                throw PusherError(.invalidRequest, message: "\(Setting.encryptionMasterKey.variable): \(error.message)")
            }
        }
        if let cluster = value(.cluster) {
            server = PusherServer(.cluster(cluster))
            return
        }
        guard let named = value(.host).map({ PusherServer(.host($0), useTLS: false) }) ?? url?.server else {
            throw PusherError(.invalidRequest, message: "PUSHER_URL, PUSHER_CLUSTER or PUSHER_HOST is not set")
        }
        // The hosted service has its own port, always with TLS.
        guard case .host = named.host, named.host != .defaultHost else {
            server = PusherServer(named.host)
            return
        }
        let tls = value(.tls) ?? (named.useTLS ? "1" : "0")
        guard ["0", "1"].contains(tls) else { throw Setting.tls.unusable(tls, "1 or 0") }
        let port = try value(.port).map { text throws(PusherError) in
            guard let port = Int(text), 1...65_535 ~= port else {
                throw Setting.port.unusable(text, "a number from 1 to 65535")
            }
            return port
        }
        server = PusherServer(named.host, port: port ?? named.port, useTLS: tls == "1")
    }

    /// `PUSHER_URL`.
    private struct AppURL {
        let key: String
        let secret: String
        let appID: String
        let server: PusherServer

        init(_ text: String) throws(PusherError) {
            guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
                ["http", "https"].contains(scheme),
                let key = url.user, let secret = url.password, let host = url.host, !host.isEmpty, url.query == nil,
                let appID = url.path.wholeMatch(of: #//apps/([^/]+)/?/#)?.1, 1...65_535 ~= url.port ?? 443
            else {
                // It holds the secret.
                throw PusherError(.invalidRequest, message: "PUSHER_URL is not an address with KEY:SECRET@HOST/apps/APP_ID")
            }
            (self.key, self.secret, self.appID) = (key, secret, String(appID))
            if host == PusherHost.defaultHost.apiHost {
                server = PusherServer(.defaultHost)
            } else if let cluster = host.wholeMatch(of: #/api-([a-z0-9-]+)\.pusher\.com/#)?.1 {
                server = PusherServer(.cluster(String(cluster)))
            } else {
                server = PusherServer(.host(host), port: url.port, useTLS: scheme == "https")
            }
        }
    }

    /// Returns options for a client of this server.
    public func options(_ options: PusherClientOptions = .init()) -> PusherClientOptions {
        var options = options
        options.host = server.host
        options.useTLS = server.useTLS
        options.chosenPort = server.port
        return options
    }

    fileprivate func backend() throws(PusherError) -> (appID: String?, secret: String, keys: [EncryptionMasterKey]) {
        guard let secret else { throw Setting.secret.missing }
        return (appID, secret.value, encryptionMasterKeys)
    }

    fileprivate func api(_ options: PusherHTTPAPIOptions, _ environment: PusherEnvironment) throws(PusherError) -> PusherHTTPAPI {
        let (appID, secret, keys) = try backend()
        guard let appID else { throw Setting.appId.missing }
        var options = options
        if options.encryptionMasterKeys.isEmpty { options.encryptionMasterKeys = keys }
        return PusherHTTPAPI(
            appID: appID, key: key, secret: secret, host: server.host, port: server.port, useTLS: server.useTLS, options: options,
            environment: environment)
    }

    /// The app's key and server, not its secret.
    public var description: String { "PusherSettings(key \(key), server \(server.host.withoutSecrets))" }
}

extension Pusher {
    /// Creates a client of an app. The server is that of the settings, whatever the options say.
    public convenience init(
        settings: PusherSettings, options: PusherClientOptions = .init(), environment: PusherEnvironment = .live
    ) {
        self.init(key: settings.key, options: settings.options(options), environment: environment)
    }
}

extension PusherHTTPAPI {
    /// Creates the API of an app.
    ///
    /// - Throws: A ``PusherError`` of kind `invalidRequest` if the app's id or its secret isn't set.
    public init(
        settings: PusherSettings, options: PusherHTTPAPIOptions = .init(), environment: PusherEnvironment = .live
    ) throws(PusherError) {
        self = try settings.api(options, environment)
    }
}

extension PusherAuthHandler {
    /// Creates the handler of an app.
    ///
    /// - Throws: A ``PusherError`` of kind `invalidRequest` if the app's secret isn't set.
    public init(settings: PusherSettings, logger: Logger = Logger(label: "pusher-channels")) throws(PusherError) {
        let (_, secret, keys) = try settings.backend()
        self.init(
            authenticator: PusherAuthenticator(key: settings.key, secret: secret, encryptionMasterKeys: keys),
            verifier: PusherWebhookVerifier(secrets: [settings.key: secret], encryptionMasterKeys: keys), logger: logger)
    }
}

#if Configuration
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Pusher {
    /// Creates a client of the app that a configuration names; see ``PusherSettings``.
    ///
    /// - Throws: A ``PusherError`` of kind `invalidRequest` that names the variable.
    public convenience init(
        config: ConfigReader, options: PusherClientOptions = .init(), environment: PusherEnvironment = .live
    ) throws(PusherError) {
        self.init(settings: try PusherSettings(config: config), options: options, environment: environment)
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension PusherHTTPAPI {
    /// Creates the API of the app that a configuration names; see ``PusherSettings``.
    ///
    /// - Throws: A ``PusherError`` of kind `invalidRequest` that names the variable.
    public init(
        config: ConfigReader, options: PusherHTTPAPIOptions = .init(), environment: PusherEnvironment = .live
    ) throws(PusherError) {
        try self.init(settings: PusherSettings(config: config), options: options, environment: environment)
    }
}
#endif
