import Dispatch
import PusherChannels

/// When and where a mock calls back.
public enum MockDelivery: Sendable {
    /// Soon, on one of the system's queues, as `URLSession` does.
    case global
    /// Within the call that asks.
    case immediate
    /// When a scheduler's clock has moved on by `after`.
    case scheduled(any Scheduler, after: Duration)

    /// Runs `action` when its time has come; returns what cancels it, if anything can.
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
