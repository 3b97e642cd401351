/// The clients, sockets, and timers that are left over at a test's end. Each has one finding, which includes its sockets and
/// timers.
struct Leftovers {
    typealias Timer = (timer: TestScheduler.PendingTimer, origin: TestScheduler.Origin?)
    typealias OpenSocket = (finding: Finding, client: Int?)

    let leaks: [TestHarness.Tracked]
    let timers: [Timer]
    let sockets: [OpenSocket]
    /// What is said with each leak.
    var advice = ""

    var findings: [Finding] {
        let leaked = Set(leaks.compactMap(\.client))
        let connected = Set(sockets.compactMap(\.client))
        let openSockets = sockets.filter { $0.client.map { !leaked.contains($0) } ?? true }.map { socket in
            Finding(.openSocket, socket.finding.text + timersText(of: socket.client))
        }
        let alone = timers.filter { timer in
            guard case .client(let client)? = timer.origin else { return true }
            return !leaked.contains(client) && !connected.contains(client)
        }
        return openSockets + named(alone).map { Finding(.pendingTimer, $0) }
            + leaks.map { Finding(.leak, $0.name + socketsText(of: $0.client) + timersText(of: $0.client) + advice) }
    }

    /// The findings except for timers that belong to no client.
    var findingsOfObjects: [Finding] {
        Leftovers(leaks: leaks, timers: timers.filter { if case .client? = $0.origin { true } else { false } }, sockets: sockets)
            .findings
    }

    /// Returns the names of timers, once for those with one label and one place. They are in the order of their deadlines.
    private func named(_ timers: [Timer]) -> [String] {
        var (places, counts): ([(first: Timer, name: String)], [String: Int]) = ([], [:])
        for timer in timers {
            let place = if case .place(let place)? = timer.origin { ", made at \(place)" } else { "" }
            let name = timer.timer.label + place
            if counts[name] == nil { places.append((timer, place)) }
            counts[name, default: 0] += 1
        }
        return places.map { first, place in
            let count = counts[first.timer.label + place] ?? 1
            return "\(first.timer)\(count > 1 ? " and \(count - 1) more" : "")\(place)"
        }
    }

    private func socketsText(of client: Int?) -> String {
        sockets.filter { client != nil && $0.client == client }.map { "; \($0.finding.text)" }.joined()
    }

    private func timersText(of client: Int?) -> String {
        let names = timers.filter { client != nil && $0.origin == client.map { .client($0) } }.map { "\($0.timer)" }
        return names.isEmpty ? "" : "; its timers: \(names.joined(separator: ", "))"
    }
}

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
