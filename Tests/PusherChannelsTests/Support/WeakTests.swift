import Processes
import Testing

@testable import PusherChannels

@Suite struct WeakTests {
    /// An entry that hands its last reference to the code that reads it.
    private struct LastReference: WeakEntry {
        let reference: Locked<AtItsEnd?>

        var object: AtItsEnd? { reference.withLock { $0.take() } }
    }

    @Test func thoseThatAreGoneAreTakenOut() {
        let object = AtItsEnd {}
        var entries = [Weak(nil), Weak(object), Weak(nil)]
        #expect(entries.removeGone().count == 1)
        #expect(entries.count == 1)
        #expect(entries.first?.object === object)
    }

    @Test func noneEndsBeforeTheListIsLetGo() {
        let (isLocked, endedUnderLock) = (Locked(true), Locked<Bool?>(nil))
        var entries = [LastReference(reference: Locked(AtItsEnd { endedUnderLock.withLock { $0 = isLocked.withLock { $0 } } }))]
        do {
            let objects = entries.removeGone()
            isLocked.withLock { $0 = false }
            withExtendedLifetime(objects) {}
        }
        #expect(endedUnderLock.withLock { $0 } == false)
    }
}
