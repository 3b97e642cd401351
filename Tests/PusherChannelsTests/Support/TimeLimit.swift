import TestSupport
import Testing

extension TimeLimitTrait.Duration {
    /// For a test that waits for what doesn't happen.
    static var lost: Self { .minutes((Patience.seconds + 59) / 60) }
}
