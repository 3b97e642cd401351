/// The input that libFuzzer made up: choices at the beginning, then whatever the target makes of the rest.
struct FuzzInput {
    private(set) var rest: ArraySlice<UInt8>

    init(_ data: UnsafePointer<UInt8>, _ size: Int) {
        rest = Array(UnsafeBufferPointer(start: data, count: size))[...]
    }

    /// The next byte; 0 at the end.
    mutating func choice() -> Int {
        Int(rest.popFirst() ?? 0)
    }

    /// As many bytes as the next one says, or as there are.
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
