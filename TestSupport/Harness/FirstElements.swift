/// The first thousand elements and the number of later ones. The number kept is limited because a server may run for months.
struct FirstElements<Element: Sendable>: Sendable {
    static var limit: Int { 1_000 }

    private(set) var kept: [Element] = []
    private var others = 0

    mutating func append(_ element: Element) {
        if kept.count < Self.limit { kept.append(element) } else { others += 1 }
    }

    /// Returns a finding for each element that is kept, and one for all others.
    func findings(_ finding: (Element) -> Finding) -> [Finding] {
        let findings = kept.map(finding)
        guard others > 0, let last = findings.last else { return findings }
        return findings + [Finding(last.kind, "\(others) more, of which nothing is kept")]
    }
}
