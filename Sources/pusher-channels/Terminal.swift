import Foundation

/// Lines for a person go to standard error, so that standard output has nothing but results.
func note(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
}

/// Writes a result at once, also into a pipe.
func output(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
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
