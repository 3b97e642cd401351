import Foundation
import TestSupport
import Testing

struct MockValueTests {
    private let environment = TestEnvironment()

    @Test func `A mock's next value is used for every read until it is reset`() {
        #expect(environment.locale() == Locales.us)
        environment.locale.next = Locales.germany
        #expect(environment.locale() == Locales.germany)
        #expect(environment.locale() == Locales.germany)
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

    @Test func `A used-up sequence repeats its last value, and each such read is an issue`() {
        environment.randomSeed.sequence([4, 5])
        #expect((0..<4).map { _ in environment.randomSeed() } == [4, 5, 5, 5])
        #expect(environment.randomSeed.next == 5)
        #expect(
            environment.issues == [
                "randomSeed was used 3 times, but its sequence has 2 values",
                "randomSeed was used 4 times, but its sequence has 2 values",
            ])
    }

    @Test func `An empty sequence gives the default and an issue`() {
        environment.randomSeed.sequence([])
        #expect(environment.randomSeed.next == 0)
        #expect(environment.randomSeed() == 0)
        #expect(environment.issues == ["randomSeed was used once, but its sequence has 0 values"])
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
            for _ in 0..<100 {
                group.addTask { [environment] in _ = environment.randomSeed() }
            }
        }
        #expect(environment.randomSeed.reads.sorted() == Array(0..<100))
        #expect(environment.issues.isEmpty)
    }
}
