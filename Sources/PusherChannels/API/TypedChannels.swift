import Foundation

/// A channel's updates with its events as one type. It ends the same way as the ``PusherStream`` of the updates.
public struct TypedUpdates<Event: ChannelEvents>: AsyncSequence, Sendable {
    /// An update.
    public typealias Element = TypedUpdate<Event>

    /// The error that a stream ends with.
    public typealias Failure = PusherError

    /// The iterator of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var updates: PusherStream<ChannelUpdate>.AsyncIterator

        /// Returns the next update, or nil if the stream has ended or the task is cancelled. Throws the error that ended the
        /// stream, once.
        public mutating func next() async throws(PusherError) -> Element? { try await next(isolation: nil) }

        /// Returns the next update, read on the given actor, or nil if the stream has ended or the task is cancelled. Throws the
        /// error that ended the stream, once.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(PusherError) -> Element? {
            try await updates.next(isolation: actor)?.typed(as: Event.self)
        }
    }

    let updates: PusherStream<ChannelUpdate>

    /// The number of updates that were dropped because the buffer was full.
    public var dropped: Int { updates.dropped }

    /// Returns an iterator over the stream.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(updates: updates.makeAsyncIterator()) }
}

/// A step of a followed channel whose events are one type.
public enum TypedFollowStep<State: Sendable, Event: ChannelEvents>: Sendable {
    /// The state, as in ``FollowStep/state(_:_:)``.
    case state(State, LoadReason)
    /// An event to apply to it, and the message that it was read from.
    case event(Event, PusherEvent)
    /// An event whose name no case has.
    case unknown(PusherEvent)
    /// An event whose data isn't that of its case, and the error that decoding it threw.
    case undecodable(PusherEvent, any Error)
    /// A failure that is retried, as in ``FollowStep/failed(_:)``.
    case failed(any Error)
}

/// A ``FollowStream`` with events of one type.
public struct TypedFollowStream<State: Sendable, Event: ChannelEvents>: AsyncSequence, Sendable {
    /// A step.
    public typealias Element = TypedFollowStep<State, Event>

    /// The error that a stream ends with.
    public typealias Failure = PusherError

    /// The iterator of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var steps: FollowStream<State>.AsyncIterator

        /// Returns the next step, or nil if the stream has ended or the task is cancelled. Throws the error that ended the
        /// stream, once.
        public mutating func next() async throws(PusherError) -> Element? { try await next(isolation: nil) }

        /// Returns the next step, read on the given actor, or nil if the stream has ended or the task is cancelled. Throws the
        /// error that ended the stream, once.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(PusherError) -> Element? {
            switch try await steps.next(isolation: actor) {
            case .state(let state, let reason): .state(state, reason)
            case .failed(let error): .failed(error)
            case nil: nil
            case .event(let message):
                switch message.typed(as: Event.self) {
                case .event(let event, _): .event(event, message)
                case .undecodable(_, let error): .undecodable(message, error)
                case .unknown, .channel: .unknown(message)
                }
            }
        }
    }

    let steps: FollowStream<State>

    /// Loads the state again, as ``FollowStream/reload()`` does.
    public func reload() { steps.reload() }

    /// Returns an iterator over the stream.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(steps: steps.makeAsyncIterator()) }
}

extension Pusher {
    /// Subscribes to a channel, as ``updates(of:auth:rewind:filter:buffering:)`` does, and returns its updates with its events as one type.
    ///
    /// - Parameters:
    ///   - channelName: The channel's name, prefix included.
    ///   - type: The type of the channel's events.
    ///   - auth: An authorization to use once, instead of requesting one.
    ///   - buffering: The size of the stream's buffer, and its overflow policy.
    public func updates<Event: ChannelEvents>(
        of channelName: String, as type: Event.Type, auth: PusherAuth? = nil, buffering: StreamBuffering = StreamBuffering()
    ) -> TypedUpdates<Event> {
        TypedUpdates(updates: updates(of: channelName, auth: auth, buffering: buffering))
    }

    /// Follows a channel as ``follow(_:auth:buffering:timeout:maximumAge:covers:loading:)`` does, with its events as one type.
    ///
    /// - Parameters:
    ///   - channelName: The channel's name, prefix included.
    ///   - type: The type of the channel's events.
    ///   - maximumAge: The time after which the state is loaded again; nil for never.
    ///   - covers: Returns whether a state holds the effect of an event that came while it was loaded; such an event is skipped.
    ///   - load: Loads the state from the application's own API.
    public func follow<State: Sendable, Event: ChannelEvents>(
        _ channelName: String, as type: Event.Type, maximumAge: Duration? = nil,
        covers: (@Sendable (State, PusherEvent) -> Bool)? = nil, loading load: @escaping @Sendable () async throws -> State
    ) -> TypedFollowStream<State, Event> {
        TypedFollowStream(steps: follow(channelName, maximumAge: maximumAge, covers: covers, loading: load))
    }
}

extension PusherChannel {
    /// Sends an event to the channel's other subscribers, as ``trigger(eventName:data:)-(_,Encodable)`` does. The enum's `CodingKeys`
    /// give its case a name that begins with `client-`: no reader then takes what a client says for what the backend says.
    @discardableResult
    public func trigger(_ event: some ChannelEvents) -> TriggerResult {
        do {
            let (name, data) = try client.environment.jsonEncoder().encodeCase(event)
            return trigger(name, json: data)
        } catch {
            let type = "\(Swift.type(of: event))"
            return client.core.refuse(type, on: channel, because: "an event of \(type) can't be encoded: \(text(of: error))")
        }
    }
}

extension PusherPresenceChannel {
    /// Returns the members' ids and the application's data about each, or the error that decoding it threw.
    public func members<Info: Decodable & Sendable>(
        as type: Info.Type
    ) -> [(userID: String, info: Result<Info, any Error>)] {
        members.map { member in (member.userID, Result { try member.decodeUserInfo(as: type) }) }
    }
}

extension PusherHTTPAPI {
    /// Publishes an event to the subscribers of a channel, as
    /// ``trigger(channels:eventName:data:excluding:info:idempotencyKey:tags:)`` does.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - channel: The channel's name.
    ///   - socketID: The connection that doesn't get the event, such as that of the client that requested it; nil for none.
    ///   - idempotencyKey: A key by which a Sockudo server publishes the event only once, as there.
    ///   - tags: What filters look at, as there.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    public func publish(
        _ event: some ChannelEvents, to channel: String, excluding socketID: String? = nil, idempotencyKey: String? = nil,
        tags: [String: String] = [:]
    ) async throws {
        let name: String, data: Data
        do {
            (name, data) = try encoder.encodeCase(event)
        } catch {
            throw PusherError(.invalidRequest, message: "the event can't be encoded: \(text(of: error))")
        }
        try await trigger(
            channels: [channel], eventName: name, data: data, excluding: socketID, idempotencyKey: idempotencyKey, tags: tags)
    }
}

/// The names of events as Laravel broadcasts them, and as its Echo is asked for them.
public enum LaravelEvent {
    /// Returns the name on the wire of an event that `Echo.listen` calls by a name.
    ///
    /// Laravel broadcasts an event under its class's name, `App\Events\OrderPlaced`, unless the class has `broadcastAs`.
    ///
    /// - Parameters:
    ///   - name: The class's name in the namespace, such as `OrderPlaced` or `Orders.Placed`; or, after a `.`, a name as
    ///     `broadcastAs` gives it.
    ///   - namespace: The namespace of the application's events.
    public static func name(_ name: String, namespace: String = "App.Events") -> String {
        guard let first = name.first, first == "." || first == "\\" else {
            return "\(namespace).\(name)".replacing(".", with: "\\")
        }
        return String(name.dropFirst())
    }

    /// Returns the name on the wire of a whisper, which is a client event.
    public static func whisper(_ name: String) -> String { "client-\(name)" }
}
