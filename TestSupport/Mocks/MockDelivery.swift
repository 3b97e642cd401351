import Dispatch
import PusherChannels

/// The time and place of a mock's callbacks.
public enum MockDelivery: Sendable {
    /// Soon, on one of the system's queues, like `URLSession`.
    case global
    /// Within the call that causes it.
    case immediate
    /// After a scheduler's clock has moved by `after`.
    case scheduled(any Scheduler, after: Duration)

    /// Runs `action` at its time. Returns the scheduled action if it can be cancelled.
    func deliver(_ label: String, _ action: @escaping @Sendable () -> Void) -> (any ScheduledAction)? {
        switch self {
        case .global:
            DispatchQueue.global().async(execute: action)
            return nil
        case .immediate:
            action()
            return nil
        case .scheduled(let scheduler, let delay):
            return scheduler.schedule(at: scheduler.now + delay, label: label, action)
        }
    }

    /// Returns this delivery without the delay.
    var prompt: MockDelivery {
        guard case .scheduled(let scheduler, _) = self else { return self }
        return .scheduled(scheduler, after: .zero)
    }
}
