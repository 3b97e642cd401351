import PusherChannels

/// What a harness finds at a test's end.
extension TestHarness {
    func verify(alive: Bool) throws(TestFailure) {
        state.withLock { $0.isVerified = true }
        if let failure = failure(alive: alive) { throw failure }
    }

    /// The events so far, and the states of the clients that were made here.
    public var story: String {
        let clients = state.withLock { $0.clients }.compactMap { $0() }
        return ([timeline.description] + clients.map { "  client  \($0)" }).filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// Runs what is ready on the harness's executor if it runs no body: nothing else does. Returns whether it came to rest.
    @discardableResult
    func runExecutor() -> Bool {
        state.withLock(\.runExecutor)()
    }

    /// Waits on the harness's executor if it is running.
    func waitOnExecutor(_ what: String, _ limit: Duration, _ condition: @escaping Condition) async throws -> Bool {
        try await state.withLock { $0.waitOnExecutor }?(what, limit, condition) ?? false
    }

    func failure(alive: Bool) -> TestFailure? {
        let findings = findings(alive: alive).filter { !allowed.contains($0.kind) }
        return findings.isEmpty ? nil : TestFailure(location: location, findings: findings, timeline: story)
    }

    /// - Parameter alive: True to report clients and tasks that are still alive, too.
    private func findings(alive: Bool) -> [Finding] {
        let state = state.withLock { $0 }
        let real = state.servers.flatMap(\.findings) + state.proxies.flatMap(\.findings)
        return [
            state.recorded, unheldRecorders, environment.issues.map { Finding(.unimplemented, $0) }, session.findings,
            real, missedServers, state.recorders.flatMap(\.findings), sockets.flatMap(\.socket.findings), server.ownFindings,
            leftovers(alive: alive).findings, scheduler.findings, missedTime,
        ].flatMap(\.self)
    }

    /// The findings of recorders whose client received something afterward. Earlier events may still wait on a queue, and nobody
    /// hears those at the end of a test's body.
    private var unheldRecorders: [Finding] {
        state.withLock { $0.unheldRecorders }.filter { timeline.has(["opened", "received"], after: $0.entries) }.map(\.finding)
    }

    /// The findings for clients that were meant for a real server: they never reach it, and their tests could pass all the same.
    private var missedServers: [Finding] {
        let (servers, proxies) = state.withLock { ($0.servers, $0.proxies) }
        let listening = servers as [any Listening] + proxies
        return sockets.flatMap { _, socket in listening.compactMap { $0.missed(by: socket) } }
    }

    /// The finding that a test with a real server advanced a clock that nothing uses, and expected time to pass there. The date
    /// moves with the clock, so code that reads it uses the clock.
    private var missedTime: [Finding] {
        guard hasServers, scheduler.now > .origin, scheduler.changes == 0, environment.now.reads.isEmpty else { return [] }
        return [
            Finding(
                .error,
                """
                time was advanced to \(scheduler.now), and nothing was scheduled: a real server and its clients live in real time. Wait \
                for what they do, or test them in memory, with `harness.makePusher()`
                """)
        ]
    }

    private var sockets: [(identity: ObjectIdentifier, socket: SocketFindings.Socket)] {
        server.sockets.all + state.withLock { $0.sockets }.all
    }

    private func leftovers(alive: Bool) -> Leftovers {
        let (tracked, owners, advice) = state.withLock { ($0.tracked, $0.owners, $0.leakAdvice) }
        return Leftovers(
            // A client that may leak doesn't report its socket and timers, so they are reported separately.
            leaks: alive && !allowed.contains(.leak) ? tracked.filter { $0.isAlive() } : [],
            // The server's own timer belongs to its connections, which are reported.
            timers: scheduler.pendingTimersWithOrigins.filter { $0.timer.label != MachineTimer.label },
            sockets: sockets.compactMap { identity, socket in socket.open.map { ($0, owners[identity]) } }, advice: advice)
    }

    /// Returns whether something is left over that may go away when another thread releases it. That includes what a client puts
    /// away when it is deallocated: by then, the client is no longer alive.
    /// - Parameter alive: True to count clients and tasks that are still alive, too.
    func mayLetGo(alive: Bool) -> Bool {
        leftovers(alive: alive).findingsOfObjects.contains { !allowed.contains($0.kind) }
    }
}
