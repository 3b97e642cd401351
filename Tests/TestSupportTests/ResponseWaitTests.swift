import Testing

@testable import TestSupport

struct ResponseWaitTests {
    @Test func `A gate that never opens is kept by nothing that waits for it`() {
        weak var gate: Gate?
        do {
            let closed = Gate()
            gate = closed
            let wait = ResponseWait(of: .ok.held(by: closed), on: TestScheduler())
            #expect(closed.waitingCount == 1)
            withExtendedLifetime(wait) {}
        }
        #expect(gate == nil)
    }
}
