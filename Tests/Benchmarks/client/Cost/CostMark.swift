import Foundation

/// The reference for the cost of a byte, because nanoseconds depend on the machine.
enum CostMark {
    static let name = "JSONDecoder: short strings"

    /// Returns the nanoseconds of processor time that `JSONDecoder` takes for each byte of a list of short strings of about `size`
    /// bytes.
    static func nanosecondsPerByte(size: Int, tries: Int) throws -> Double {
        let message = Data("[\(String(repeating: #""1","#, count: size / 4))\"1\"]".utf8)
        return try leastNanoseconds(perByteOf: message.count, tries: tries, with: JSONDecoder.init) {
            _ = try $0.decode([String].self, from: message)
        }
    }
}
