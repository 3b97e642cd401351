import Foundation

/// The values for options that aren't given. Those of the environment take precedence over those of the configuration file.
struct Settings: Sendable {
    private let environment: [Setting: String]
    private let file: [Setting: String]
    private var sources: [[Setting: String]] { [environment, file] }

    /// - Parameter variables: The environment's variables; an empty one counts as unset.
    init(variables: [String: String], file: ConfigurationFile?) {
        let given = Setting.allCases.compactMap { setting in variables[setting.variable].map { (setting, $0) } }
        environment = Dictionary(uniqueKeysWithValues: given).filter(Self.isMeant)
        self.file = file?.values ?? [:]
    }

    /// Returns whether a variable was set for this program: Kubernetes sets `PUSHER_PORT=tcp://10.96.0.12:6001` for a service
    /// named pusher.
    private static func isMeant(_ setting: Setting, _ value: String) -> Bool {
        !value.isEmpty && !(setting == .port && value.hasPrefix("tcp://"))
    }

    subscript(setting: Setting) -> String? { first(of: [setting])?.value }

    /// Returns one of several settings that exclude each other: that of the first source that has any.
    func first(of settings: [Setting]) -> (setting: Setting, value: String)? {
        for source in sources {
            for setting in settings {
                if let value = source[setting] { return (setting, value) }
            }
        }
        return nil
    }

    /// Returns whether the environment has all of several settings that exclude each other. A file that has them can't be used.
    func environmentHas(_ settings: [Setting]) -> Bool {
        settings.allSatisfy { environment[$0] != nil }
    }

    /// Returns a setting that belongs to others: from the first source that has any of them, or from one before it.
    func value(of setting: Setting, belongingTo others: [Setting]) -> String? {
        for source in sources {
            if let value = source[setting] { return value }
            if others.contains(where: { source[$0] != nil }) { return nil }
        }
        return nil
    }

    /// Returns the file to read if no option names one, and whether it has to exist.
    static func file(variables: [String: String]) -> (path: String, isRequired: Bool)? {
        func directory(_ name: String) -> String? { variables[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        if let path = variables["PUSHER_CONFIG"], !path.isEmpty { return (path, true) }
        let configuration = directory("XDG_CONFIG_HOME") ?? directory("HOME").map { $0 + "/.config" }
        return configuration.map { ($0 + "/pusher-channels/config", false) }
    }
}
