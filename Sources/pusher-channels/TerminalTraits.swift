import Foundation

/// The abilities of a terminal; none for a stream that a program reads.
struct TerminalTraits: Sendable {
    enum Color: Int, Sendable {
        case red = 31
        case green = 32
        case yellow = 33
    }

    /// Indicates whether a line can be overwritten.
    let canErase: Bool
    let hasColors: Bool

    static let output = TerminalTraits(isTerminal: isatty(STDOUT_FILENO) == 1, variables: ProcessInfo.processInfo.environment)
    static let errors = TerminalTraits(isTerminal: isatty(STDERR_FILENO) == 1, variables: ProcessInfo.processInfo.environment)

    /// Creates the traits by the rules of no-color.org and force-color.org: an empty variable counts as unset.
    init(isTerminal: Bool, variables: [String: String]) {
        func isSet(_ name: String) -> Bool { variables[name]?.isEmpty == false }
        canErase = isTerminal && isSet("TERM") && variables["TERM"] != "dumb"
        hasColors = isSet("FORCE_COLOR") || canErase && !isSet("NO_COLOR")
    }

    /// Returns the text in a color, if there are any. It has to convey all of its meaning without the color.
    func paint(_ text: String, _ color: Color?) -> String {
        guard hasColors, let color else { return text }
        return "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
    }
}
