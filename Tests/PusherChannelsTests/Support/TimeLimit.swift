import TestSupport
import Testing

extension TimeLimitTrait.Duration {
    /// The time limit of a test that might wait for something that never happens.
    static var lost: Self { .minutes((Patience.seconds + 59) / 60) }
}
