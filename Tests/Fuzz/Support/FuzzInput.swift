/// The input that libFuzzer generated: choices at the beginning, then data that each target interprets in its own way.
struct FuzzInput {
    private(set) var rest: ArraySlice<UInt8>

    init(_ data: UnsafePointer<UInt8>, _ size: Int) {
        rest = Array(UnsafeBufferPointer(start: data, count: size))[...]
    }

    /// Returns the next byte, or 0 at the end.
    mutating func choice() -> Int {
        Int(rest.popFirst() ?? 0)
    }

    /// Returns as many bytes as the next byte says, or as many as are left.
    mutating func choices() -> [UInt8] {
        let chosen = rest.prefix(choice())
        rest = rest.dropFirst(chosen.count)
        return Array(chosen)
    }
}

/// Ends the run when a property doesn't hold; libFuzzer keeps the input.
func require(_ holds: Bool, _ property: @autoclosure () -> String) {
    guard holds else { fatalError("property: \(property())") }
}
