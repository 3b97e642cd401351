import Foundation

/// A message that might cost more than its length justifies.
struct CostTrial: Sendable {
    let place: CostPlace
    let shape: CostShape
    private let isText: Bool

    var name: String { "\(place.name): \(shape.name)" }

    /// Every shape, in every place that can hold it.
    static let all = CostPlace.all.flatMap { place in
        CostShape.texts.map { CostTrial(place: place, shape: $0, isText: true) }
            + (place.content == .text ? [] : CostShape.values.map { CostTrial(place: place, shape: $0, isText: false) })
    }

    /// Returns the nanoseconds of processor time that a client takes for each byte of a message of about `size` bytes.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func nanosecondsPerByte(size: Int, tries: Int) -> Double {
        let message = place.message(shape, isText: isText, size: size)
        return leastNanoseconds(perByteOf: message.length, tries: tries, with: { CostSubject(in: place.scene) }) {
            $0.deliver(message.bytes)
        }
    }
}

/// Returns the nanoseconds of processor time that some work takes for each byte: the least of several tries, because interference
/// only makes a try longer.
///
/// - Parameters:
///   - length: The number of bytes.
///   - tries: The number of tries.
///   - makeSubject: Prepares a try, which isn't measured.
///   - work: The work that is measured.
func leastNanoseconds<Subject>(
    perByteOf length: Int, tries: Int, with makeSubject: () -> Subject, _ work: (Subject) throws -> Void
) rethrows -> Double {
    let times = try (0..<tries).map { _ in
        let subject = makeSubject()
        let began = processorTime()
        try work(subject)
        return processorTime() - began
    }
    return (times.min() ?? 0) * 1e9 / Double(length)
}

/// Returns the seconds of processor time that this process has used.
func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

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
