import Testing

@testable import PusherChannels

@Suite struct WeakEntryTests {
    private final class Object: Sendable {
        let atItsEnd: @Sendable () -> Void

        init(atItsEnd: @escaping @Sendable () -> Void) {
            self.atItsEnd = atItsEnd
        }

        deinit {
            atItsEnd()
        }
    }

    /// Whoever looks at it has the last reference.
    private struct LastReference: WeakEntry {
        let reference: Locked<Object?>

        var object: Object? { reference.withLock { $0.take() } }
    }

    private struct Weak: WeakEntry {
        weak var object: Object?
    }

    @Test func thoseThatAreGoneAreTakenOut() {
        let object = Object {}
        var entries = [Weak(object: nil), Weak(object: object), Weak(object: nil)]
        #expect(entries.removeGone().count == 1)
        #expect(entries.count == 1)
        #expect(entries.first?.object === object)
    }

    @Test func noneEndsBeforeTheListIsLetGo() {
        let (isLocked, endedUnderLock) = (Locked(true), Locked<Bool?>(nil))
        var entries = [LastReference(reference: Locked(Object { endedUnderLock.withLock { $0 = isLocked.withLock { $0 } } }))]
        do {
            let objects = entries.removeGone()
            isLocked.withLock { $0 = false }
            withExtendedLifetime(objects) {}
        }
        #expect(endedUnderLock.withLock { $0 } == false)
    }
}
