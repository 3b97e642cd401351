/// A queue: elements go in at the end and out at the front, each in constant time. What was taken out is let go of at once.
struct Deque<Element> {
    private var places: [Element?] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        if count == places.count { grow() }
        places[place(of: count)] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = places[head].take()
        head = head + 1 == places.count ? 0 : head + 1
        count -= 1
        return element
    }

    /// Puts what was taken out back in front of the rest.
    mutating func prepend(_ elements: consuming Deque) {
        while let element = popFirst() { elements.append(element) }
        self = elements
    }

    func reduce<Result>(_ initial: Result, _ combine: (Result, Element) -> Result) -> Result {
        var result = initial
        for offset in 0..<count {
            if let element = places[place(of: offset)] { result = combine(result, element) }
        }
        return result
    }

    private func place(of offset: Int) -> Int {
        let place = head + offset
        return place < places.count ? place : place - places.count
    }

    private mutating func grow() {
        var larger: [Element?] = []
        larger.reserveCapacity(max(2 * places.count, 8))
        for offset in 0..<count { larger.append(places[place(of: offset)].take()) }
        while larger.count < larger.capacity { larger.append(nil) }
        places = larger
        head = 0
    }
}

extension Deque: Sendable where Element: Sendable {}
