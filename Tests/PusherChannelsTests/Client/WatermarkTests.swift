import Testing

@testable import PusherChannels

/// The number of waiting elements and bytes.
@Suite struct WatermarkTests {
    @Test func isOverAtEitherLimit() {
        var elements = Watermark(limit: 3, byteLimit: 100)
        for _ in 0..<2 { elements.add(bytes: 1) }
        #expect(elements.state == .under)
        elements.add(bytes: 1)
        #expect(elements.state == .over)
        var bytes = Watermark(limit: 3, byteLimit: 100)
        bytes.add(bytes: 100)
        #expect(bytes.state == .over)
    }

    @Test func isUnderAgainWhenHalfOfBothIsFree() {
        var watermark = Watermark(limit: 10, byteLimit: 100)
        watermark.add(count: 10, bytes: 60)
        watermark.remove(count: 4, bytes: 0)
        #expect(watermark.state == .over)
        watermark.remove(count: 1, bytes: 0)
        #expect(watermark.state == .over, "sixty bytes are more than half")
        watermark.remove(count: 1, bytes: 10)
        #expect(watermark.state == .under)
    }

    @Test func eachLimitIsOneOfItsOwn() {
        var elements = Watermark(limit: 10, byteLimit: 100)
        elements.add(count: 10, bytes: 0)
        elements.remove(count: 4, bytes: 0)
        #expect(elements.state == .over)
        elements.remove(count: 1, bytes: 0)
        #expect(elements.state == .under)
        var bytes = Watermark(limit: 10, byteLimit: 100)
        bytes.add(count: 1, bytes: 100)
        bytes.remove(count: 0, bytes: 49)
        #expect(bytes.state == .over)
        bytes.remove(count: 0, bytes: 1)
        #expect(bytes.state == .under)
    }

    @Test func whatCannotBeDroppedMakesTheServerWaitAgain() {
        var watermark = Watermark(limit: 10, byteLimit: 100)
        watermark.add(count: 10, bytes: 0)
        watermark.pauseLimitReached()
        #expect(watermark.state == .dropping)
        watermark.add(count: 9, bytes: 0)
        #expect(watermark.state == .dropping)
        watermark.add(count: 1, bytes: 0)
        #expect(watermark.state == .over)
    }

    @Test func itWaitsOnceMoreAndNotForEver() {
        var watermark = Watermark(limit: 10, byteLimit: 100)
        for _ in 1...2 {
            for state in [Watermark.State.dropping, .overflowing] {
                watermark.add(count: 10, bytes: 0)
                #expect(watermark.state == .over)
                watermark.pauseLimitReached()
                #expect(watermark.state == state)
                #expect(watermark.drops)
            }
            watermark.add(count: 30, bytes: 300)
            #expect(watermark.state == .overflowing)
            watermark.remove(count: 50, bytes: 300)
            #expect(watermark.state == .under)
            #expect(!watermark.drops)
        }
    }

    @Test(arguments: [0, -1, .min]) func aLimitIsAtLeastOne(limit: Int) {
        var watermark = Watermark(limit: limit, byteLimit: limit)
        #expect(!watermark.isFull)
        watermark.add(bytes: 1)
        #expect(watermark.state == .over)
    }
}
