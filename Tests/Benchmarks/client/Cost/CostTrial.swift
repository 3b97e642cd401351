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

    /// Returns the nanoseconds of processor time that a client takes for each byte of a message of about `size` bytes: the least
    /// of several tries, because interference only makes a try longer.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func nanosecondsPerByte(size: Int, tries: Int) -> Double {
        let message = place.message(shape, isText: isText, size: size)
        let times = (0..<tries).map { _ in
            let subject = CostSubject(in: place.scene)
            let began = processorTime()
            subject.deliver(message.bytes)
            return processorTime() - began
        }
        return (times.min() ?? 0) * 1e9 / Double(message.length)
    }
}

/// Returns the seconds of processor time that this process has used.
func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
