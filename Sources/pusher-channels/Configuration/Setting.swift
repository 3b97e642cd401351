import ArgumentParser
import Foundation
import PusherChannels

/// A value that an option, the environment or the configuration file can give. The raw value is the option's name.
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

    /// The name of the environment variable, which `LocalServer.environment` sets for a child process.
    var variable: String { "PUSHER_" + rawValue.uppercased().replacingOccurrences(of: "-", with: "_") }

    var isSecret: Bool {
        switch self {
        case .secret, .encryptionMasterKey: true
        case .appID, .authEndpoint, .cluster, .host, .key, .port, .timeout, .tls: false
        }
    }

    /// Returns the requirement that a value doesn't meet; `nil` if it can be used. The value isn't repeated, because it may be
    /// most of a key.
    func requirement(unmetBy value: String) -> String? {
        switch self {
        case .authEndpoint:
            ["http", "https"].contains(URL(string: value)?.scheme?.lowercased())
                ? nil : "takes an address that begins with http:// or https://"
        case .cluster: value.wholeMatch(of: #/[A-Za-z0-9-]+/#) == nil ? "takes a name such as eu" : nil
        case .encryptionMasterKey: Data(base64Encoded: value)?.count == 32 ? nil : "takes 32 bytes in base64"
        case .host: Self.isHost(value) ? nil : "takes only a name or an address, without scheme, port and path"
        case .port: Int(value).map { 1...65_535 ~= $0 } == true ? nil : "takes a number from 1 to 65535"
        case .timeout: Self.seconds(value) == nil ? "takes a number of seconds, more than 0 and at most a day" : nil
        case .tls: Self.bool(value) == nil ? "takes 1 or 0" : nil
        case .appID, .key, .secret: nil
        }
    }

    /// Throws the requirement that a value doesn't meet, with the name of the option or the variable that gave it.
    func validate(_ value: String, isOption: Bool) throws {
        guard let requirement = requirement(unmetBy: value) else { return }
        throw ValidationError("\(isOption ? "--\(rawValue)" : "$\(variable)") \(requirement)")
    }

    /// Returns whether a value may be a host's name or address. A single colon would begin a port; several make an IPv6 address.
    private static func isHost(_ value: String) -> Bool {
        let isPlain = value.unicodeScalars.allSatisfy {
            !"/?#@".unicodeScalars.contains($0) && !$0.properties.isWhitespace && $0.isForLogLines
        }
        return !value.isEmpty && isPlain && value.count { $0 == ":" } != 1 && !value.contains("]:")
    }

    /// Returns the duration of a value in seconds; `nil` if it isn't a valid waiting time.
    static func seconds(_ value: String) -> Duration? {
        Double(value).flatMap { $0 > 0 && $0 <= 86_400 ? .seconds($0) : nil }
    }

    /// Returns the meaning of a switch's value; `nil` if it has none.
    static func bool(_ value: String) -> Bool? {
        switch value.lowercased() {
        case "1", "true", "yes", "on": true
        case "0", "false", "no", "off": false
        default: nil
        }
    }
}
