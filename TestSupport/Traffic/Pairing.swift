/// Finds the elements of two lists that belong together.
enum Pairing {
    /// Returns as many pairs as possible, by position in the left list. An element gives up its partner to one that fits no other
    /// (Kuhn's algorithm).
    static func largest(_ leftCount: Int, _ rightCount: Int, _ fits: (Int, Int) -> Bool) -> [Int: Int] {
        var search = Search(rightCount: rightCount)
        for left in 0..<leftCount {
            var seen: Set<Int> = []
            _ = search.place(left, &seen, fits)
        }
        return Dictionary(search.owner.map { ($1, $0) }, uniquingKeysWith: { $1 })
    }

    private struct Search {
        let rightCount: Int
        var owner: [Int: Int] = [:]
        private var verdicts: [Int: [Int: Bool]] = [:]

        init(rightCount: Int) {
            self.rightCount = rightCount
        }

        mutating func place(_ left: Int, _ seen: inout Set<Int>, _ fits: (Int, Int) -> Bool) -> Bool {
            // Starts at the element's own position, so that equal elements keep their order, and tries elements without a partner
            // first.
            let rightCount = rightCount
            let rights = (0..<rightCount).lazy.map { (left + $0) % rightCount }
            for right in rights where owner[right] == nil && isFit(left, right, fits) {
                owner[right] = left
                return true
            }
            for right in rights where isFit(left, right, fits) && seen.insert(right).inserted {
                guard let other = owner[right], place(other, &seen, fits) else { continue }
                owner[right] = left
                return true
            }
            return false
        }

        /// Returns whether two elements fit. Results are kept, because comparing takes long.
        private mutating func isFit(_ left: Int, _ right: Int, _ fits: (Int, Int) -> Bool) -> Bool {
            if let verdict = verdicts[left]?[right] { return verdict }
            let verdict = fits(left, right)
            verdicts[left, default: [:]][right] = verdict
            return verdict
        }
    }

    /// Returns as many pairs as possible without any two crossing, that is, in order.
    static func longest(_ leftCount: Int, _ rightCount: Int, _ fits: (Int, Int) -> Bool) -> [Int: Int] {
        // Usually everything is in order, and then nothing is compared twice.
        var start = 0
        while start < min(leftCount, rightCount), fits(start, start) { start += 1 }
        var pairs = Dictionary(uniqueKeysWithValues: (0..<start).map { ($0, $0) })
        let rest = longestOfRest(leftCount - start, rightCount - start) { fits($0 + start, $1 + start) }
        for (left, right) in rest { pairs[left + start] = right + start }
        return pairs
    }

    private static func longestOfRest(_ leftCount: Int, _ rightCount: Int, _ fits: (Int, Int) -> Bool) -> [Int: Int] {
        let fitting = (0..<leftCount).map { left in (0..<rightCount).map { fits(left, $0) } }
        var lengths = [[Int]](repeating: [Int](repeating: 0, count: rightCount + 1), count: leftCount + 1)
        for left in (0..<leftCount).reversed() {
            for right in (0..<rightCount).reversed() {
                lengths[left][right] =
                    fitting[left][right]
                    ? 1 + lengths[left + 1][right + 1] : max(lengths[left + 1][right], lengths[left][right + 1])
            }
        }
        var pairs: [Int: Int] = [:]
        var (left, right) = (0, 0)
        while left < leftCount, right < rightCount {
            if fitting[left][right] {
                pairs[left] = right
                left += 1
                right += 1
            } else if lengths[left + 1][right] >= lengths[left][right + 1] {
                left += 1
            } else {
                right += 1
            }
        }
        return pairs
    }

    /// Returns pairs by cost, the cheapest first. A cost of `nil` means that two elements don't belong together.
    static func nearest(_ left: [Int], _ right: [Int], _ cost: (Int, Int) -> Int?) -> [Int: Int] {
        let offers = left.flatMap { left in
            right.compactMap { right in cost(left, right).map { (cost: $0, left: left, right: right) } }
        }
        var pairs: [Int: Int] = [:]
        var taken: Set<Int> = []
        for offer in offers.sorted(by: { ($0.cost, $0.left, $0.right) < ($1.cost, $1.left, $1.right) })
        where pairs[offer.left] == nil && !taken.contains(offer.right) {
            pairs[offer.left] = offer.right
            taken.insert(offer.right)
        }
        return pairs
    }
}
