import Testing

@testable import TestSupport

struct ResponseWaitTests {
    @Test func `A response that waits at a closed gate doesn't keep the gate alive`() {
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

    @Test func `A canceled wait no longer waits at its gate`() async {
        let gate = Gate()
        let wait = ResponseWait(of: .ok.held(by: gate), on: TestScheduler())
        let task = Task { await wait.end() }
        task.cancel()
        await task.value
        #expect(gate.waitingCount == 0)
    }
}
