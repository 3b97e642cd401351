import ArgumentParser
import Foundation

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
