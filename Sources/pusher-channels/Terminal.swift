import Foundation
import PusherChannels

/// Lines for a person go to standard error, so that standard output has nothing but results.
func note(_ line: String) {
    erasable(line + "\n")
}

/// Writes a last line to standard error. If that fails there is no other place to report to.
func erasable(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
}

/// Writes a result at once, also into a pipe. Ends the program where that can't be: nobody would get the others either.
func output(_ line: String) {
    do {
        try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    } catch {
        note("Error: the output can't be written: \(error.localizedDescription)")
        exit(1)
    }
}

extension String {
    /// The text on one line, in which nothing moves a terminal's cursor or changes its colors.
    var onOneLine: String { inLogLine(upTo: .max) }

    /// JSON that means the same and is as safe on a terminal: JSON itself escapes only some of what isn't.
    var asSafeJSON: String {
        guard unicodeScalars.contains(where: { !$0.isForLogLines }) else { return self }
        return unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar.value {
            // No string of JSON holds one as it is: these stand between its tokens, where an escape would make it no JSON.
            case ..<0x20: result += " "
            case _ where scalar.isForLogLines: result += String(scalar)
            default: result += String(format: "\\u%04x", scalar.value)
            }
        }
    }
}

extension Duration {
    /// Milliseconds with one decimal.
    var inMilliseconds: String {
        let (seconds, attoseconds) = components
        return String(format: "%.1f ms", Double(seconds) * 1e3 + Double(attoseconds) / 1e15)
    }

    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
