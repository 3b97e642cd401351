/// How far a stream was read in each channel of a Sockudo server: what its reader took, in the order in which it came. So what waits in the
/// stream, what it dropped, and the gap that it hasn't told yet are all behind the place.
struct ReadPlaces: Sendable {
    private(set) var places: [Name: ReadPlace] = [:]

    /// Begins where a channel's stream is, or goes on where it was read.
    mutating func begin(_ channel: Name, at place: ReadPlace) {
        places[channel, default: place].goOn(like: place)
    }

    mutating func read(_ event: Envelope) {
        guard let channel = event.channel, let position = event.position else { return }
        places[channel]?.read(position)
    }

    mutating func forget(_ channel: Name) {
        places[channel] = nil
    }

    /// Adds another stream's places. Of two in one channel, the earlier one counts.
    mutating func add(_ others: ReadPlaces, where isWanted: (Name) -> Bool = { _ in true }) {
        places.merge(others.places.filter { isWanted($0.key) }) { $0.earlier($1) }
    }
}

extension Streams {
    /// The places up to which the readers of all streams have read, and those that ended: the earliest in each channel.
    var readPlaces: ReadPlaces {
        (events.places + updates.places).reduce(into: left) { $0.add($1) }
    }

    /// Notes where a channel begins, for the streams that have all of its events.
    mutating func begin(_ channel: Name, at place: ReadPlace) {
        changePlaces(of: channel) { $0.begin(channel, at: place) }
    }

    /// Notes where a new stream begins in its channel, or in each: whatever earlier ones left unread was told or is nobody's.
    mutating func begin<Element>(
        _ id: Int, in table: WritableKeyPath<Streams, StreamTable<Element>>, _ channel: Name?, _ subscriptions: Subscriptions
    ) {
        let channels = channel.map { [$0] } ?? subscriptions.all.map(\.channel)
        for channel in channels {
            left.forget(channel)
            events.changePlaces(of: channel, ifFinished: true) { $0.forget(channel) }
            updates.changePlaces(of: channel, ifFinished: true) { $0.forget(channel) }
            guard let place = subscriptions[channel]?.recovery?.readPlace else { continue }
            self[keyPath: table].change(id) { $0.places?.begin(channel, at: place) }
        }
    }

    /// Forgets a channel that isn't wanted any more.
    mutating func forgetPlaces(of channel: Name) {
        left.forget(channel)
        changePlaces(of: channel) { $0.forget(channel) }
    }

    private mutating func changePlaces(of channel: Name, _ body: (inout ReadPlaces) -> Void) {
        guard tracksReading else { return }
        events.changePlaces(of: channel, body)
        updates.changePlaces(of: channel, body)
    }
}
