/// The loads of a follower: when each begins, and what comes of it.
extension Follower {
    /// Has a channel's state loaded again, when the reader is back.
    func reload(_ channel: Name, _ reason: LoadReason = .reload) {
        change { shared, _ in
            // Whoever asks for another state says more than the age of this one, and the pool, which knows that the channel is
            // subscribed, more than either.
            guard let known = shared.channels[channel], known.reload.map({ $0.weight < reason.weight }) != false else { return }
            if known.reload == nil { shared.reloads.append(channel) }
            shared.channels[channel]?.reload = reason
            shared.wakeUp()
        }
    }

    func reloadWanted(_ shared: inout Shared, at now: Instant) {
        for name in shared.reloads {
            guard let before = shared.channels[name]?.machine.heldBytes, let reason = shared.channels[name]?.reload.take(),
                let reaction = shared.channels[name]?.machine.reload(reason, at: now)
            else { continue }
            if case .load = reaction { repair(name, &shared, at: now) }
            loads.release(before - (shared.channels[name]?.machine.heldBytes ?? 0))
        }
        shared.reloads = []
    }

    /// Begins to repair a channel whose state was up to date, or that has none yet.
    func repair(_ name: Name, _ shared: inout Shared, at now: Instant) {
        shared.repairs += 1
        schedule(name, &shared, at: now)
    }

    /// Schedules the load that a channel wants.
    private func schedule(_ name: Name, _ shared: inout Shared, at now: Instant) {
        guard let machine = shared.channels[name]?.machine else { return }
        if let age = shared.channels[name]?.age.take() { shared.work.append { age.cancel() } }
        let (delay, why) = machine.delay(of: name, at: now, using: &shared.random)
        if let why { shared.append(.step(.failed(why)), of: name) }
        shared.work.append { [weak self] in
            let begin = { @Sendable [weak self] () -> Void in self?.enqueue(machine.load, of: name) }
            // not a mutant: a timer of no time does the same
            if delay > .zero { self?.keep(after: delay, machine.load, of: name, begin) } else { begin() }
        }
        ask(&shared)
    }

    /// Begins a load when it is its turn.
    private func enqueue(_ load: Int, of name: Name) {
        loads.add { [weak self] in self?.begin(load, of: name) ?? false }
    }

    /// Does something after a time, unless the load is over by then.
    private func keep(after time: Duration, _ load: Int, of name: Name, _ body: @escaping @Sendable () -> Void) {
        let scheduler = telemetry.environment.scheduler
        let timer = scheduler.schedule(at: scheduler.now + time, label: "load of \(name.text)", body)
        keep({ timer.cancel() }, load, of: name)
    }

    /// Keeps what cancels a load, or cancels it if it is over.
    private func keep(_ cancel: @escaping @Sendable () -> Void, _ load: Int, of name: Name) {
        let isKept = shared.withLock { shared in
            guard shared.channels[name]?.machine.load == load else { return false }
            shared.channels[name]?.cancel.append(cancel)
            return true
        }
        if !isKept { cancel() }
    }

    /// Begins the loads that waited for the reader, if it has read enough of the states that are there.
    func beginPostponed(_ shared: inout Shared) {
        guard shared.unreadStates < Self.unreadLimit else { return }
        for (load, name) in shared.postponed { shared.work.append { [weak self] in self?.enqueue(load, of: name) } }
        shared.postponed = []
    }

    /// The number of states that may wait for the reader before another load begins.
    private static var unreadLimit: Int { 16 }

    private func begin(_ load: Int, of name: Name) -> Bool {
        guard telemetry.client(name) != nil else {
            giveUp(load, of: name)
            return false
        }
        let hasBegun = change { shared, now in
            guard shared.unreadStates < Self.unreadLimit else {
                shared.postponed.append((load, name))
                return false
            }
            guard shared.channels[name]?.machine.begin(load) == true else { return false }
            shared.channels[name]?.loadingSince = now
            return true
        }
        guard hasBegun else { return false }
        let timeout = settings.timeout.asWait
        keep(after: timeout, load, of: name) { [weak self] in
            let message = "the state of \(name.text) was not loaded within \(timeout)"
            self?.ended(load, of: name, .failure(PusherError(.timedOut, message: message)))
        }
        let task = telemetry.environment.spawn { [weak self, settings, telemetry] in
            do {
                let state = try await telemetry.traced(name) { try await settings.load(name) }
                self?.ended(load, of: name, .success(state))
            } catch {
                self?.ended(load, of: name, .failure(error))
            }
        }
        keep({ task.cancel() }, load, of: name)
        return true
    }

    /// Gives up the load of a channel that no client has: one that is subscribed to again is loaded then.
    private func giveUp(_ load: Int, of name: Name) {
        let isGivenUp = change { shared, _ in
            guard shared.channels[name]?.machine.giveUp(load) == true else { return false }
            shared.repairs -= 1
            stop(name, &shared)
            return true
        }
        // It may have been subscribed to since the look, and told so before this.
        guard isGivenUp, telemetry.client(name) != nil else { return }
        change { shared, now in
            if case .load? = shared.channels[name]?.machine.want(.subscribedAgain, at: now) { repair(name, &shared, at: now) }
        }
    }

    private func ended(_ load: Int, of name: Name, _ result: Result<State, any Error>) {
        change { shared, now in
            guard var machine = shared.channels[name]?.machine, let began = shared.channels[name]?.loadingSince else { return }
            let bytes = machine.heldBytes
            var failure: (any Error)?
            switch result {
            case .success(let state):
                guard let (reason, held) = machine.loaded(load, at: now) else { return }
                shared.append(.step(.state(state, reason)), of: name)
                for event in held { shared.append(.held(event, state), of: name) }
            case .failure(let error):
                guard let held = machine.failed(load, at: now) else { return }
                loads.release(bytes)
                failure = error
                // The log has each failure. A reader that is busy for days needs only the first ones.
                if shared.ready.count < settings.buffering.limit { shared.append(.step(.failed(error)), of: name) }
                for event in held { shared.append(.step(.event(event)), of: name) }
            }
            shared.work.append { [telemetry, failure] in telemetry.ended(name, failure, after: now - began) }
            shared.channels[name]?.machine = machine
            stop(name, &shared)
            if machine.isLive {
                shared.repairs -= 1
                expire(name, &shared)
            } else {
                schedule(name, &shared, at: now)
            }
        }
    }

    /// Cancels what is under way for a channel's load, and frees its place.
    func stop(_ name: Name, _ shared: inout Shared) {
        guard let channel = shared.channels[name] else { return }
        for cancel in channel.cancel { shared.work.append(cancel) }
        if channel.loadingSince != nil { shared.work.append { [loads] in loads.ended() } }
        shared.channels[name]?.cancel = []
        shared.channels[name]?.loadingSince = nil
    }

    /// Has the state loaded again when it is too old.
    private func expire(_ name: Name, _ shared: inout Shared) {
        guard let age = settings.maximumAge.map({ max($0.asWait, .seconds(1)) }) else { return }
        shared.work.append { [weak self] in
            guard let self else { return }
            let scheduler = telemetry.environment.scheduler
            let timer = scheduler.schedule(at: scheduler.now + age, label: "age of \(name.text)") { [weak self] in
                self?.reload(name, .maximumAge)
            }
            let isLate = self.shared.withLock { shared in
                defer { shared.channels[name]?.age = timer }
                return shared.channels[name]?.machine.isLive != true
            }
            if isLate { timer.cancel() }
        }
    }
}
