import Foundation
import TestSupport
import Testing

struct MockValueTests {
    private let environment = TestEnvironment()

    @Test func `A mock's next value is used for every read until it is reset`() {
        #expect(environment.locale() == Locales.us)
        environment.locale.next = Locales.germany
        #expect([environment.locale(), environment.locale()] == [Locales.germany, Locales.germany])
        environment.locale.reset()
        #expect(environment.locale() == Locales.us)
        #expect(environment.locale.reads == [Locales.us, Locales.germany, Locales.germany, Locales.us])
        #expect(environment.issues.isEmpty)
    }

    @Test func `Looking at a mock's next value counts as no read and takes nothing`() {
        environment.randomSeed.sequence([4, 5])
        #expect(environment.randomSeed.next == 4)
        #expect(environment.randomSeed.reads.isEmpty)
        #expect(environment.randomSeed() == 4)
        #expect(environment.randomSeed.next == 5)
        environment.randomSeed.unimplemented()
        #expect(environment.randomSeed.next == 0)
        #expect(environment.issues.isEmpty)
    }

    @Test(
        arguments: [
            ([4, 5], [4, 5, 5, 5], ["3 times, but its sequence has 2 values", "4 times, but its sequence has 2 values"]),
            ([], [0], ["once, but its sequence has 0 values"]),
        ] as [([UInt64], [UInt64], [String])])
    func `A used-up sequence repeats its last value or the default, and each such read is an issue`(
        values: [UInt64], reads: [UInt64], issues: [String]
    ) {
        environment.randomSeed.sequence(values)
        #expect(reads.map { _ in environment.randomSeed() } == reads)
        #expect(environment.randomSeed.next == reads.last)
        #expect(environment.issues == issues.map { "randomSeed was used \($0)" })
    }

    @Test func `Each use of an unimplemented value is an issue that names it, and gives the default`() {
        environment.timeZone.unimplemented()
        #expect(environment.timeZone() == .gmt)
        #expect(environment.timeZone.reads == [.gmt])
        #expect(environment.issues == ["timeZone was used, but is unimplemented"])
        environment.timeZone.next = .gmt
        _ = environment.timeZone()
        #expect(environment.issues.count == 1)
    }

    @Test func `A made value is made anew for each read, and may read the environment`() {
        environment.dateFormatter.make { [locale = environment.locale] in
            let formatter = DateFormatter()
            formatter.locale = locale()
            return formatter
        }
        #expect(environment.dateFormatter() !== environment.dateFormatter())
        #expect(environment.locale.reads.count == 2)
    }

    @Test func `A mock value's closure reads the mock itself`() {
        let now = environment.now.function
        environment.now.next = Date(timeIntervalSince1970: 1234)
        #expect(now() == Date(timeIntervalSince1970: 1234))
        #expect(environment.now.reads.count == 1)
    }

    @Test func `A mock added by the test reports its issues to the environment`() {
        let name = environment.mock("userName") { "nobody" }
        #expect(name() == "nobody")
        name.unimplemented()
        _ = name()
        #expect(environment.issues == ["userName was used, but is unimplemented"])
    }

    @Test func `Reads of a mock value from many threads are all noted`() async {
        environment.randomSeed.sequence(Array(0..<100))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { [environment] in _ = environment.randomSeed() } }
        }
        #expect(environment.randomSeed.reads.sorted() == Array(0..<100))
        #expect(environment.issues.isEmpty)
    }
}
