import TestSupport
import Testing

@testable import PusherChannels

@Suite struct InstantTests {
    private static let long: [Duration] = [.seconds(Int64.max), .seconds(Int64.max) * 18, Duration(_high: .max, low: .max)]
    private static let longBefore: [Duration] = [.seconds(Int64.min), .seconds(Int64.min) * 18, Duration(_high: .min, low: 0)]

    private let latest = Instant(.seconds(Int64.max))
    private let earliest = Instant(.seconds(Int64.min))

    @Test func `Adding or subtracting a duration moves an instant, and the difference of two instants is a duration`() {
        var instant = Instant.origin + .seconds(3)
        instant += .milliseconds(500)
        #expect(instant == .seconds(3.5))
        instant -= .seconds(4)
        #expect(instant.sinceOrigin == .milliseconds(-500))
        #expect(instant.advanced(by: .seconds(1)) == instant - .seconds(-1))
        #expect(instant + Duration(secondsComponent: 0, attosecondsComponent: 1) != instant)
        let (early, late) = (Instant.seconds(2), Instant.seconds(5))
        #expect(late - early == Duration.seconds(3))
        #expect(early - late == Duration.seconds(-3))
        #expect(early.duration(to: late) == .seconds(3))
    }

    @Test func `Instants are ordered by time, and equal ones have the same hash`() {
        let instants: [Instant] = [.seconds(-1), .origin, .milliseconds(1), .seconds(2)]
        #expect(instants.reversed().sorted() == instants)
        #expect(Instant.seconds(1).hashValue == Instant.milliseconds(1000).hashValue)
    }

    @Test(arguments: [Duration.zero, .seconds(15), .milliseconds(12_500), .seconds(-2), .nanoseconds(1)])
    func `An instant's description is that of its duration`(duration: Duration) {
        #expect("\(Instant(duration))" == "\(duration)")
    }

    @Test(arguments: long + longBefore)
    func `Adding or subtracting an overlong duration gives the latest or the earliest instant`(duration: Duration) {
        let (later, earlier) = duration > .zero ? (latest, earliest) : (earliest, latest)
        for instant in [earliest, .seconds(-1), .origin, .seconds(1), latest] {
            #expect(instant + duration == later)
            #expect(instant - duration == earlier)
        }
        #expect(Instant(duration) == later)
    }

    @Test func `The earliest and latest instants are 84 billion years away, and their difference is valid`() {
        let year = 31_557_600
        #expect(latest > .seconds(84_000_000_000 * year))
        #expect(earliest < .seconds(-84_000_000_000 * year))
        #expect((latest - earliest).components.seconds > 0)
        #expect((earliest - latest).components.seconds < 0)
        #expect(latest + .nanoseconds(1) == latest)
        #expect(earliest - .nanoseconds(1) == earliest)
        #expect(latest - .seconds(1) < latest)
        #expect("\(latest) \(earliest)" == "2.658455991569832e+18 seconds -2.658455991569832e+18 seconds")
    }
}
