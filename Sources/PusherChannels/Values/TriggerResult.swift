/// The outcome of a client event.
public enum TriggerResult: Equatable, Sendable {
    /// It was handed to the socket. The protocol has no acknowledgment.
    case sent
    /// It waits for the channel's subscription, or behind events that wait for the rate limit, and will be sent then, in order.
    case queued
    /// It was not accepted; the error says why.
    case refused(PusherError)
}
