import ArgumentParser
import Dispatch
import Foundation
import Logging
import PusherChannels

struct Listen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the events of channels.",
        discussion: """
            Prints a line for each event, with the time at which it is printed; everything else goes to standard error, such as \
            members who join and leave. Reconnects by itself, and retries channels that failed temporarily. Ends with a message if \
            it can't go on, for example because the key or a channel was refused. SIGINT, SIGTERM and SIGHUP end it gracefully, with \
            status 130, 143 and 129; a second signal ends it at once.

            \(Status.text)
            """)

    @Argument(help: "The channels to subscribe to.")
    var channels: [String]

    @OptionGroup var client: ClientOptions

    @Option(help: "Print only events of this name, which may be one of the protocol's, such as pusher:member_added.")
    var event: String?

    @Option(help: "End after this number of events.")
    var count: Int?

    @Option(help: "The longest delay before reconnecting, in seconds.")
    var maxDelay = 120.0

    @Flag(help: "Print one JSON object per line: time, channel, event, data, user_id.")
    var json = false

    @Flag(help: "Log everything the client does to standard error, with the messages to and from the server, but no secrets.")
    var verbose = false

    func validate() throws {
        if channels.isEmpty { throw ValidationError("name at least one channel") }
        try client.validate(channels)
        if !(maxDelay > 0) || maxDelay > 86_400 { throw ValidationError("--max-delay must be more than 0 and at most a day") }
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
    }

    func run() async throws {
        // Limited, and on a thread of its own, in case nobody reads our messages.
        let lines = LineWriter { note($0) }
        defer { lines.finish(within: .seconds(5)) }
        // The command itself prints what matters of the client's log.
        let log: any LogHandler = verbose ? LineLog(lines: lines) : SwiftLogNoOpLogHandler()
        let pusher = client.makePusher(log: log) { $0.reconnectPolicy = ReconnectPolicy(maximumDelay: .seconds(maxDelay)) }
        let notifications = ClientNotifications()
        pusher.delegate = notifications
        // A slow reader of our output makes the server wait, instead of filling our memory.
        let events = pusher.events(buffering: StreamBuffering(overflow: .pauseThenDrop))
        // One element for each of the delegate's changes, however late it is read.
        let states = pusher.connectionStates(buffering: StreamBuffering(limit: .max, byteLimit: .max))
        for channel in channels { notifications.subscribe(pusher, to: channel) }
        let (printed, blocked) = (Locked(0), Locked<(any DispatchSourceTimer)?>(nil))
        let (interruptions, interruption) = AsyncStream<Int32>.makeStream()
        onInterruption { signal in
            interruption.yield(signal)
            blocked.withLock { $0 = Self.endUnlessGrowing(printed, status: 128 + signal) }
        }
        pusher.connect()
        let reason: (any Error)? = try await withThrowingTaskGroup(of: (any Error)?.self) { group in
            group.addTask {
                for await signal in interruptions { notifications.add(.interrupted(signal)) }
                return nil
            }
            group.addTask {
                let reason = await reasonToEnd(notifications.stream, states, of: pusher, lines)
                // The events end with the client; those that came before are still printed.
                await pusher.shutdown()
                return reason
            }
            defer { group.cancelAll() }
            if await printAll(events, counting: printed, lines) { return nil }
            for try await reason in group {
                if let reason { return reason }
            }
            return nil
        }
        if let reason { throw reason }
    }

    /// Returns `true` when the requested number of events was printed, and `false` when no more can come. The task that follows
    /// the states explains why.
    private func printAll(
        _ events: PusherStream<PusherEvent>, counting printed: Locked<Int>, _ lines: LineWriter
    ) async -> Bool {
        var dropped = 0
        var iterator = events.makeAsyncIterator()
        while let event = try? await iterator.next() {
            if events.dropped > dropped {
                lines.tell("\(events.dropped - dropped) events were dropped, because the output was not read")
                dropped = events.dropped
            }
            guard isWanted(event) else { continue }
            output(line(event))
            let number = printed.withLock { printed in
                printed += 1
                return printed
            }
            if number == count { return true }
        }
        return false
    }

    /// Reports what happens until the client can't go on, and returns the reason; `nil` if the task is cancelled.
    ///
    /// Notifications come in the delegate's order; the reason for a state change comes with the stream's element.
    private func reasonToEnd(
        _ notifications: AsyncStream<ClientNotification>, _ states: PusherStream<ConnectionStateChange>, of pusher: Pusher,
        _ lines: LineWriter
    ) async -> (any Error)? {
        var errorLines = ErrorLines()
        var advice = Advice()
        var changes = states.makeAsyncIterator()
        for await notification in notifications {
            switch notification {
            case .state(let state):
                let reason = (try? await changes.next())?.reason
                if state == .disconnected {
                    return Failure("\(ErrorLines.lastLine("can't go on", reason)); \(Advice.reason)", because: reason)
                }
                // For example, a file of authorities that doesn't exist: no later attempt succeeds.
                if advice.isDue, let reason, DoctorStep(failedWith: reason) == .options {
                    return Failure(ErrorLines.lastLine("can't go on", reason), because: reason)
                }
                lines.tell(errorLines.line(TerminalTraits.errors.paint("\(state)", state.color), reason))
                if let line = advice.line(after: state) { lines.tell(line) }
            case .subscribed(let channel):
                let members = pusher.connection.channels.findPresence(name: channel)?.members.count
                lines.tell("subscribed to \(channel)" + (members.map { ", with members: \($0)" } ?? ""))
            case .gap(let channel, let date):
                lines.tell("events of \(channel) may be missing since \(date.onClock)")
            case .subscriptionFailed(let channel, let error):
                let what = TerminalTraits.errors.paint("can't subscribe to \(channel)", .red)
                let line = errorLines.line(what, error)
                guard pusher.connection.channels.find(name: channel)?.hasFailed == false else {
                    return Failure(ErrorLines.lastLine("can't subscribe to \(channel)", error), because: error)
                }
                lines.tell("\(line); it is tried again")
            case .decryptionFailed(let channel, let event):
                lines.tell("an event \(event.inLogLine()) of \(channel) can't be decrypted")
            case .error(let error):
                if let line = errorLines.line(error) { lines.tell(line) }
            case .interrupted(let signal):
                lines.tell("stopping")
                return ExitCode(128 + signal)
            case .memberAdded(let userID, let channel):
                lines.tell("\(userID.inLogLine()) joined \(channel)")
            case .memberRemoved(let userID, let channel):
                lines.tell("\(userID.inLogLine()) left \(channel)")
            case .event, .signedIn, .webhook, .timeUp:
                break
            }
        }
        return nil
    }

    /// Ends the process when nothing more is printed for a while, because its reader has stopped and would hold up the end
    /// forever.
    private static func endUnlessGrowing(_ printed: Locked<Int>, status: Int32) -> any DispatchSourceTimer {
        let before = Locked(printed.withLock { $0 })
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + .seconds(5), repeating: .seconds(5))
        timer.setEventHandler {
            let now = printed.withLock { $0 }
            let last = before.withLock { before in
                defer { before = now }
                return before
            }
            if last == now { _exit(status) }
        }
        timer.resume()
        return timer
    }

    private func isWanted(_ event: PusherEvent) -> Bool {
        let name = event.eventName
        guard event.channelName != nil else { return false }
        return self.event.map { $0.hasBytes(of: name) } ?? !name.begins(with: "pusher:")
    }

    private struct Line: Encodable {
        let channel: String?
        let event: String
        let data: String?
        let time: String
        let user_id: String?
    }

    private func line(_ event: PusherEvent) -> String {
        let time = Date()
        guard json else {
            let texts = [event.channelName ?? "-", event.eventName, event.data ?? ""].map(\.onOneLine)
            return ([time.onClock] + texts).joined(separator: " ")
        }
        let line = Line(
            channel: event.channelName, event: event.eventName, data: event.data, time: time.inJSON, user_id: event.userID)
        return line.jsonLine
    }
}

extension ConnectionState {
    fileprivate var color: TerminalTraits.Color? {
        switch self {
        case .connected: .green
        case .reconnecting: .yellow
        case .connecting, .disconnecting, .disconnected: nil
        }
    }
}

/// Advises once where to look if there was no connection yet: a wrong address is then more likely than a server that is briefly
/// away.
private struct Advice {
    static let reason = "pusher-channels doctor, with the same options, says what to do"

    /// Indicates whether there has been neither a connection nor a failed attempt yet.
    private(set) var isDue = true

    mutating func line(after state: ConnectionState) -> String? {
        guard isDue, state == .connected || state == .reconnecting else { return nil }
        isDue = false
        return state == .connected
            ? nil : "it is tried again; \(Self.reason). pusher-channels serve starts a local server to try things with"
    }
}

/// Reports an error once, though it comes as an error, as the reason for a state change, and as a channel's failure.
private struct ErrorLines {
    private var latest: String?

    /// Returns the line for an error by itself; `nil` if it was just reported.
    mutating func line(_ error: PusherError) -> String? {
        defer { latest = error.message }
        return error.message == latest ? nil : "\(error)"
    }

    /// Returns the line with the reason for the end, even if that was reported before: it may be all that somebody looks at.
    static func lastLine(_ what: String, _ reason: PusherError?) -> String {
        reason.map { "\(what): \($0)" } ?? what
    }

    /// Returns the line for an event, with the reason unless that was just reported.
    mutating func line(_ what: String, _ reason: PusherError?) -> String {
        guard let reason, let why = line(reason) else {
            if reason == nil { latest = nil }
            return what
        }
        return "\(what): \(why)"
    }
}
