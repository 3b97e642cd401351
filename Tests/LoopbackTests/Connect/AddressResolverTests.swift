#if os(Linux)
import Dispatch
import Glibc
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Names are looked up on separate threads, and each request gets its reply whatever becomes of the others.
@Suite(.watchdog) struct AddressResolverTests {
    /// Look-ups that end when the test decides, and a clock that the test sets.
    private final class Rig: Sendable {
        private let time = Locked(Instant.origin)
        let begun = Note<Int>()
        let ends = Locked<[@Sendable (AddressResolver.Resolution) -> Void]>([])
        let replies = Note<String>()

        let resolver: AddressResolver

        init() {
            let (time, begun, ends) = (time, begun, ends)
            resolver = AddressResolver(
                look: { _ in
                    let (reply, isThere) = (Locked(AddressResolver.Resolution.success([])), DispatchSemaphore(value: 0))
                    ends.withLock { ends in
                        ends.append { end in
                            reply.withLock { $0 = end }
                            isThere.signal()
                        }
                        // Within the lock; otherwise another thread could announce a later look-up first.
                        begun.send(ends.count)
                    }
                    isThere.wait()
                    return reply.withLock { $0 }
                }, clock: { time.withLock { $0 } })
        }

        /// Returns a closure that withdraws the request.
        @discardableResult
        func ask(_ lookUp: String, host: String = "slow.example") -> @Sendable () -> Void {
            resolver.resolve(host) { [replies] reply in
                let addresses = (try? reply.get()) ?? []
                replies.send("\(lookUp): \(addresses.joined(separator: " "))")
            }
        }

        /// Asks for as many names as are looked up at a time, and returns their number once all look-ups have begun.
        func askForAll(withdrawing: Bool = false) async -> Int {
            let limit = AddressResolver.limit
            for number in 1...limit {
                let withdraw = ask("\(number)", host: "\(number).example")
                if withdrawing { withdraw() }
            }
            for number in 1...limit { #expect(await begun.next() == number) }
            return limit
        }

        func advance(_ seconds: Int) { time.withLock { $0 += .seconds(seconds) } }
        func end(_ number: Int, _ addresses: String...) { ends.withLock { $0[number - 1] }(.success(addresses)) }
    }

    @Test func `Requests for a name that is being looked up share the look-up`() async throws {
        let rig = Rig()
        rig.ask("one")
        #expect(await rig.begun.next() == 1)
        rig.advance(19)
        rig.ask("two")
        rig.end(1, "::1")
        #expect(await [rig.replies.next(), rig.replies.next()] == ["one: ::1", "two: ::1"])
        #expect(rig.ends.withLock { $0.count } == 1)
    }

    @Test func `A name is looked up anew if its look-up hasn't returned within 20 seconds`() async throws {
        let rig = Rig()
        rig.ask("one")
        #expect(await rig.begun.next() == 1)
        rig.advance(20)
        rig.ask("two")
        #expect(await rig.begun.next() == 2)
        rig.end(2, "::2")
        #expect(await [rig.replies.next(), rig.replies.next()] == ["one: ::2", "two: ::2"])
        // The first look-up returns after all, and answers a request that was made meanwhile.
        rig.ask("three")
        #expect(await rig.begun.next() == 3)
        rig.end(1, "::1")
        #expect(await rig.replies.next() == "three: ::1")
        rig.end(3, "::3")
    }

    @Test func `A name whose look-ups never return takes only 13 threads in a day of requests`() async throws {
        let rig = Rig()
        for _ in 1...86_400 {
            rig.advance(1)
            rig.ask("late")()
        }
        for number in 1...13 { #expect(await rig.begun.next() == number) }
        for number in 1...13 { rig.end(number) }
        #expect(rig.ends.withLock { $0.count } == 13)
    }

    /// As when the name server is down, and hundreds of clients connect to hosts of their own.
    @Test func `Names beyond the limit of look-ups at a time wait for their turn`() async throws {
        let rig = Rig()
        let limit = await rig.askForAll()
        let withdraw = rig.ask("withdrawn", host: "withdrawn.example")
        rig.ask("last", host: "last.example")
        withdraw()
        #expect(rig.ends.withLock { $0.count } == limit)
        rig.end(1, "::1")
        #expect(await rig.replies.next()?.hasSuffix(": ::1") == true)
        #expect(await rig.begun.next() == limit + 1)
        rig.end(limit + 1, "::9")
        #expect(await rig.replies.next() == "last: ::9")
        for number in 2...limit { rig.end(number) }
    }

    @Test func `Look-ups that never return make room for other names after 20 seconds`() async throws {
        let rig = Rig()
        let limit = await rig.askForAll(withdrawing: true)
        rig.advance(20)
        rig.ask("next", host: "next.example")
        #expect(await rig.begun.next() == limit + 1)
        for number in 1...limit + 1 { rig.end(number) }
    }

    @Test func `A look-up without a thread to run on fails, and the next look-up succeeds`() async throws {
        let threads = FewThreads()
        let resolver = AddressResolver(look: { _ in .success(["::1"]) }, startThread: threads.start)
        let replies = Note<AddressResolver.Resolution>()
        _ = resolver.resolve("some.example") { replies.send($0) }
        let text = "No thread to look some.example up: resource temporarily unavailable"
        #expect(await replies.next() == .failure(TransportError(.unreachable, text)))
        threads.allow(10)
        _ = resolver.resolve("some.example") { replies.send($0) }
        #expect(await replies.next() == .success(["::1"]))
    }

    @Test(arguments: [
        (EAI_NONAME, TransportError.Kind.hostNotFound, "Name or service not known"),
        (EAI_SYSTEM, .unreachable, "too many open files"), (EAI_MEMORY, .unreachable, "Memory allocation failure"),
    ])
    func `A look-up that fails for lack of resources isn't reported as an unknown host`(
        error: Int32, kind: TransportError.Kind, text: String
    ) {
        let failure = AddressResolver.failure(error, SystemError(number: EMFILE), host: "some.example")
        #expect(failure == TransportError(kind, "No address found for some.example: \(text)"))
    }
}
#endif
