import Foundation

/// The reference for the cost of a byte, because nanoseconds depend on the machine.
enum CostMark {
    static let name = "JSONDecoder: short strings"

    /// Returns the nanoseconds of processor time that `JSONDecoder` takes for each byte of a list of short strings: the least of
    /// several tries, because interference only makes a try longer.
    static func nanosecondsPerByte() throws -> Double {
        let message = Data("[\(String(repeating: #""1","#, count: 1 << 18))\"1\"]".utf8)
        let times = try (0..<5).map { _ in
            let began = processorTime()
            _ = try JSONDecoder().decode([String].self, from: message)
            return processorTime() - began
        }
        return (times.min() ?? 0) * 1e9 / Double(message.count)
    }
}
