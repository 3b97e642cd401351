import Foundation
import Glibc
import PusherChannels

/// Ends the client's loop, with its thread and its descriptors, whenever its world says so: the next attempt is to make another.
enum LoopEnd {
    /// The pipe in a world's folder by which it says so.
    static let pipe = "end-loop"

    /// Has a thread of its own wait for it; what comes then takes no other thread, as there may be none.
    static func awaitIt() {
        guard let folder = ProcessInfo.processInfo.environment["CHAOS_WORLD"] else { return }
        // For writing, too: else it would be at its end whenever nobody else has it open.
        let descriptor = open("\(folder)/\(pipe)", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        Thread {
            var byte: UInt8 = 0
            while read(descriptor, &byte, 1) == 1 {
                Task(executorPreference: Here()) { await NetworkLoop.shared.shutdown() }
            }
        }.start()
    }

    /// Runs each part of a task on the thread that has it go on.
    private final class Here: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
