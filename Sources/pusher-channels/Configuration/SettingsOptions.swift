import ArgumentParser
import Foundation
import TestSupport

/// The app's key, and the file with the settings that neither options nor the environment give.
struct SettingsOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "A file of settings, one name = value per line; $PUSHER_CONFIG, by default pusher-channels/config in ~/.config.",
            valueName: "file"),
        completion: .file(), transform: { ConfigurationFile.read($0) })
    var givenFile: Result<ConfigurationFile, ConfigurationFile.Problem>?

    @Option(name: .customLong("key"), help: "The app's key; $PUSHER_KEY, by default local-key.")
    var givenKey: String?

    func validate() throws {
        if case .failure(let problem) = file { throw ValidationError(problem.description) }
    }

    var key: String { givenKey ?? settings[.key] ?? "local-key" }

    /// The app of `pusher-channels serve`, if its key is in use.
    var localApp: ServerApp? { key == ServerApp.local.key ? .local : nil }

    var settings: Settings {
        // A file that can't be read was reported before anything asks.
        Settings(variables: ProcessInfo.processInfo.environment, file: try? file.get())
    }

    private var file: Result<ConfigurationFile, ConfigurationFile.Problem> { givenFile ?? Self.standardFile }

    /// The default file, which is read once, and not at all if an option names another.
    private static let standardFile: Result<ConfigurationFile, ConfigurationFile.Problem> = {
        let none = ConfigurationFile(values: [:])
        guard let (path, isRequired) = Settings.file(variables: ProcessInfo.processInfo.environment) else {
            return .success(none)
        }
        if !isRequired, access(path, F_OK) != 0 { return .success(none) }
        return ConfigurationFile.read(path)
    }()
}
