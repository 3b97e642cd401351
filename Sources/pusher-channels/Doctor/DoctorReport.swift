import Foundation
import PusherChannels

/// The outcome of each step, and the lines that report it.
struct DoctorReport: Sendable {
    /// A step and its outcome.
    struct Line: Encodable, Equatable, Sendable {
        enum Result: String, Encodable {
            case ok, failed, skipped, untested

            var color: TerminalTraits.Color? {
                switch self {
                case .ok: .green
                case .failed: .red
                case .skipped, .untested: nil
                }
            }
        }

        let step: String
        let result: Result
        let detail: String
        var advice: String?
        /// The time that the step took, if it was measured.
        var milliseconds: Double?

        /// Returns the lines for a person: the step, and what to do about it.
        func text(on terminal: TerminalTraits) -> String {
            let width = 15
            let columns = [result == .failed ? "FAILED" : result.rawValue, step]
                .map { $0.padding(toLength: width, withPad: " ", startingAt: 0) }
            let first =
                terminal.paint(columns[0], result.color) + columns[1] + detail.onOneLine
                + (milliseconds.map { ", after \($0) ms" } ?? "")
            return advice.map { first + "\n" + String(repeating: " ", count: 2 * width) + $0.onOneLine } ?? first
        }
    }

    let lines: [Line]

    /// - Parameters:
    ///   - error: The error that ended the attempt; `nil` if each step went well.
    ///   - step: The step that failed; by default the one that the error tells.
    ///   - durations: The times of the steps that were measured.
    init(
        _ route: DoctorRoute, _ error: PusherError?, at step: DoctorStep? = nil, _ durations: [DoctorStep: Duration] = [:]
    ) {
        let failed = step ?? error.map { DoctorStep(failedWith: $0) }
        var isReached = true
        lines = DoctorStep.allCases.map { step in
            let milliseconds = durations[step].map { ($0 / .milliseconds(1) * 10).rounded() / 10 }
            if step == failed, let error {
                isReached = false
                return Line(
                    step: step.rawValue, result: .failed, detail: "\(error)", advice: route.advice(on: step, error),
                    milliseconds: milliseconds)
            }
            if let reason = route.reasonToSkip(step) { return Line(step: step.rawValue, result: .skipped, detail: reason) }
            return isReached
                ? Line(step: step.rawValue, result: .ok, detail: route.success(of: step), milliseconds: milliseconds)
                : Line(step: step.rawValue, result: .untested, detail: "an earlier step failed")
        }
    }
}
