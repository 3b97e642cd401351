import Foundation
import Glibc
import PusherChannels

/// Shuts down the client's loop, with its thread and its descriptors, whenever ``World`` requests it, so that the next attempt
/// makes another loop.
enum LoopEnd {
    /// The name of the pipe in the folder of a ``World`` that carries the request.
    static let pipe = "end-loop"

    /// Waits for requests on a separate thread, which also runs the shutdown, because there may be no other thread.
    static func awaitIt() {
        guard let folder = ProcessInfo.processInfo.environment["CHAOS_WORLD"] else { return }
        // Opened for writing, too: otherwise a read would find the end of the file whenever nobody else has the pipe open.
        let descriptor = open("\(folder)/\(pipe)", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        Thread {
            var byte: UInt8 = 0
            while read(descriptor, &byte, 1) == 1 {
                Task(executorPreference: Here()) { await NetworkLoop.shared.shutdown() }
            }
        }.start()
    }

    /// Runs each part of a task on the thread that resumes it.
    private final class Here: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// A notification that a client reports as a line of its output, in the order in which its delegate received it.
enum Heard: Codable, Equatable, Sendable {
    case state(String)
    case subscribed(channel: String)
    case mayHaveMissed(channel: String, since: Date)
    case event(channel: String, number: Int)
    /// The copy of what the backend has is this number, for this reason.
    case copied(Int, reason: String)
    /// The copy lacks the numbers from one to another.
    case copyLacks(from: Int, to: Int)
    case error(kind: String, message: String)
    case subscriptionFailed(channel: String, message: String)

    init(line: String) throws {
        self = try JSONDecoder().decode(Heard.self, from: Data(line.utf8))
    }

    func line() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
