/// A first-in, first-out queue. Taking an element costs the same however many wait, and taken elements aren't kept.
package struct Deque<Element> {
    private var slots: [Element?] = []
    /// The index of the first element. Removing it from the front of the array would move all others each time.
    private var head = 0

    package init() {}

    package var count: Int { slots.count - head }

    package var isEmpty: Bool { head == slots.count }

    package var first: Element? { isEmpty ? nil : slots[head] }

    package mutating func append(_ element: Element) {
        slots.append(element)
    }

    /// Inserts an element before all others. Costs as much as there are others, unless an element was taken before.
    package mutating func prepend(_ element: Element) {
        guard head > 0 else { return slots.insert(element, at: 0) }
        head -= 1
        slots[head] = element
    }

    package mutating func append(contentsOf elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    /// Removes and returns the first element; nil if there is none.
    @discardableResult
    package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let first = slots[head].take()
        head += 1
        // Only now and then, so each removal costs the same on average.
        if isEmpty || (head >= 64 && head * 2 >= slots.count) {
            slots.removeFirst(head)
            head = 0
        }
        return first
    }

    /// Removes and returns the element at an offset from the first; the last one takes its place.
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
