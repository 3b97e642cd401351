/// A queue: what came first is taken first. Taking costs the same however many wait, and what was taken isn't kept.
package struct Deque<Element> {
    private var slots: [Element?] = []
    /// The place of the first; taking it from the front of the array would move all others each time.
    private var head = 0

    package init() {}

    package var count: Int { slots.count - head }

    package var isEmpty: Bool { head == slots.count }

    package var first: Element? { isEmpty ? nil : slots[head] }

    package mutating func append(_ element: Element) {
        slots.append(element)
    }

    /// Puts an element before all others. Costs as much as there are others, unless one was taken before.
    package mutating func prepend(_ element: Element) {
        guard head > 0 else { return slots.insert(element, at: 0) }
        head -= 1
        slots[head] = element
    }

    package mutating func append(contentsOf elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    /// Takes the first; nil if there is none.
    @discardableResult
    package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let first = slots[head].take()
        head += 1
        // Now and then, so that each costs the same.
        if isEmpty || (head >= 64 && head * 2 >= slots.count) {
            slots.removeFirst(head)
            head = 0
        }
        return first
    }

    /// Takes the one at an offset from the first, which the last replaces.
    package mutating func remove(swappingLastInto offset: Int) -> Element? {
        guard (0..<count).contains(offset) else { return nil }
        slots.swapAt(head + offset, slots.count - 1)
        return slots.removeLast()
    }
}

extension Deque: Sequence {
    package func makeIterator() -> some IteratorProtocol<Element> { slots[head...].lazy.compactMap(\.self).makeIterator() }
}

extension Deque: Equatable where Element: Equatable {
    package static func == (left: Deque, right: Deque) -> Bool {
        left.slots[left.head...] == right.slots[right.head...]
    }
}

extension Deque: Sendable where Element: Sendable {}
