import Foundation
import PusherChannels

/// Writes a line for a person to standard error, so standard output holds nothing but results.
func note(_ line: String) {
    erasable(line + "\n")
}

/// Writes text to standard error. If that fails, there is no other place to report it.
func erasable(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
}

/// Writes a result at once, even into a pipe. Ends the program if that fails, because nobody would get the other results either.
func output(_ line: String) {
    do {
        try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    } catch {
        note("Error: the output can't be written: \(error.localizedDescription)")
        exit(1)
    }
}

extension String {
    /// The text on one line, without anything that moves a terminal's cursor or changes its colors.
    var onOneLine: String { inLogLine(upTo: .max) }

    /// JSON with the same meaning that is safe on a terminal; JSON itself escapes only some of the unsafe characters.
    var asSafeJSON: String {
        guard unicodeScalars.contains(where: { !$0.isForLogLines }) else { return self }
        return unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar.value {
            // A JSON string holds none of these unescaped, so they are between tokens, where an escape would be invalid.
            case ..<0x20: result += " "
            case _ where scalar.isForLogLines: result += String(scalar)
            default: for unit in String(scalar).utf16 { result += String(format: "\\u%04x", unit) }
            }
        }
    }
}

extension Encodable {
    /// The value as one JSON object on a line.
    var jsonLine: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ((try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}").asSafeJSON
    }
}

extension Date {
    /// The local time of day for a person's line, such as `14:03:07.250`.
    var onClock: String {
        let milliseconds = Int64((timeIntervalSince1970 * 1000).rounded(.down))
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return String(format: "%02d:%02d:%02d.%03d", parts.tm_hour, parts.tm_min, parts.tm_sec, Int(milliseconds % 1000))
    }

    /// The time for a program, such as `2026-11-28T13:03:07.250Z`.
    var inJSON: String { formatted(ISO8601FormatStyle(includingFractionalSeconds: true)) }
}
