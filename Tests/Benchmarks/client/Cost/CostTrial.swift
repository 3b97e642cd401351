import ArgumentParser
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

/// Looks for the most expensive byte. Fills large messages, in every place that a server can fill, with content that might cost
/// more than it should.
struct Cost: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Find out what a byte of a message costs at most.")

    @Option(help: "How many times a byte may cost what JSONDecoder takes for one of a list of short strings.")
    var limit = 0.5

    @Option(help: "How many seconds the largest messages may take together; the dearest come first.")
    var seconds = 240.0

    @Option(help: "How many bytes the largest messages have.")
    var largest = 1 << 24

    @Option(help: "How many lines the table has.")
    var lines = 40

    @Option(help: "Only trials in whose names this is.")
    var only = ""

    /// The sizes of messages, and the number of tries for each: trials that take longer need fewer.
    private static let sizes = [(bytes: 1 << 16, tries: 5), (bytes: 1 << 20, tries: 2), (bytes: 1 << 24, tries: 1)]

    private struct Row {
        let trial: CostTrial
        var costs: [Double] = []

        var worst: Double { costs.max() ?? 0 }
    }

    func run() throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
            throw Failure("tasks can't be given an executor here")
        }
        let sizes = Self.sizes.filter { $0.bytes <= largest }
        let marks = try sizes.map { try CostMark.nanosecondsPerByte(size: $0.bytes, tries: 5) }
        // The least, so that a disturbed one doesn't raise the limit.
        let mark = marks.min() ?? 0
        var rows = CostTrial.all.filter { only.isEmpty || $0.name.contains(only) }.map { Row(trial: $0) }
        for (bytes, tries) in sizes {
            let began = processorTime()
            for index in rows.indices where processorTime() - began < seconds {
                // A message that is far too expensive when small would take hours when large.
                if rows[index].worst > 1000 { continue }
                rows[index].costs.append(rows[index].trial.nanosecondsPerByte(size: bytes, tries: tries))
            }
            rows.sort { $0.worst > $1.worst }
        }
        measureAgain(&rows, above: limit * mark)
        output(line(marks, CostMark.name))
        for row in rows.prefix(lines) { output(line(row.costs, row.trial.name)) }
        let missed = rows.count { $0.worst > limit * mark }
        let worst = rows.first?.worst ?? 0
        output(
            #"{"trials":\#(rows.count),"worst_ns":\#(worst),"times":\#(worst / mark),"limit":\#(limit),"missed":\#(missed)}"#)
        if missed > 0 { throw ExitCode.failure }
    }

    /// Repeats the trials that cost too much, because other activity on the machine, which costs processor time, too, may have
    /// disturbed them.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private func measureAgain(_ rows: inout [Row], above limit: Double) {
        for index in rows.indices where rows[index].worst > limit && rows[index].worst < 4 * limit {
            for (size, cost) in rows[index].costs.enumerated() where cost > limit {
                let again = rows[index].trial.nanosecondsPerByte(size: Self.sizes[size].bytes, tries: 5)
                rows[index].costs[size] = min(cost, again)
            }
        }
        rows.sort { $0.worst > $1.worst }
    }

    private func line(_ costs: [Double], _ name: String) -> String {
        let columns = Self.sizes.indices.map { costs.indices.contains($0) ? String(format: "%9.1f", costs[$0]) : "        -" }
        return columns.joined() + "  " + name
    }
}
