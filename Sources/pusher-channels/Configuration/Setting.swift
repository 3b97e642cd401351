import ArgumentParser
import Foundation
import PusherChannels

/// A value that an option, the environment and the configuration file can give, under the option's name.
enum Setting: String, CaseIterable, Sendable {
    case appID = "app-id"
    case authEndpoint = "auth-endpoint"
    case cluster
    case encryptionMasterKey = "encryption-master-key"
    case host
    case key
    case port
    case secret
    case timeout
    case tls

    /// The environment variable, as `LocalServer.environment` sets it for a child process.
    var variable: String { "PUSHER_" + rawValue.uppercased().replacingOccurrences(of: "-", with: "_") }

    var isSecret: Bool {
        switch self {
        case .secret, .encryptionMasterKey: true
        case .appID, .authEndpoint, .cluster, .host, .key, .port, .timeout, .tls: false
        }
    }

    /// Returns what a value has to be and isn't; nil where it can be used. The value isn't repeated: it may be most of a key.
    func requirement(unmetBy value: String) -> String? {
        switch self {
        case .authEndpoint:
            ["http", "https"].contains(URL(string: value)?.scheme?.lowercased())
                ? nil : "takes an address that begins with http:// or https://"
        case .cluster: value.wholeMatch(of: #/[A-Za-z0-9-]+/#) == nil ? "takes a name such as eu" : nil
        case .encryptionMasterKey: Data(base64Encoded: value)?.count == 32 ? nil : "takes 32 bytes in base64"
        case .host: Self.isHost(value) ? nil : "takes a name or an address alone, without scheme, port and path"
        case .port: Int(value).map { 1...65_535 ~= $0 } == true ? nil : "takes a number from 1 to 65535"
        case .timeout: Self.seconds(value) == nil ? "takes seconds, more than 0 and a day at most" : nil
        case .tls: Self.bool(value) == nil ? "takes 1 or 0" : nil
        case .appID, .key, .secret: nil
        }
    }

    /// Throws what a value has to be and isn't, under the name by which it was given.
    func validate(_ value: String, isOption: Bool) throws {
        guard let requirement = requirement(unmetBy: value) else { return }
        throw ValidationError("\(isOption ? "--\(rawValue)" : "$\(variable)") \(requirement)")
    }

    /// Returns whether a value may be a host's name or address: one colon alone stands before a port, several make an address of IPv6.
    private static func isHost(_ value: String) -> Bool {
        let isPlain = value.unicodeScalars.allSatisfy {
            !"/?#@".unicodeScalars.contains($0) && !$0.properties.isWhitespace && $0.isForLogLines
        }
        return !value.isEmpty && isPlain && value.count { $0 == ":" } != 1 && !value.contains("]:")
    }

    /// Returns how long a value in seconds is; nil where it is no time to wait for.
    static func seconds(_ value: String) -> Duration? {
        Double(value).flatMap { $0 > 0 && $0 <= 86_400 ? .seconds($0) : nil }
    }

    /// Returns what the value of a switch means; nil where it means nothing.
    static func bool(_ value: String) -> Bool? {
        switch value.lowercased() {
        case "1", "true", "yes", "on": true
        case "0", "false", "no", "off": false
        default: nil
        }
    }
}
