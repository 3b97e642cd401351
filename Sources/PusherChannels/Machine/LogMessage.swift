/// The message of a log line. Messages are constant so that logs can be searched for them; values are in the line's fields.
enum LogMessage: String, CaseIterable, Sendable {
    case connecting
    case connected
    case disconnecting
    case disconnected
    case reconnecting
    case error
    case clientReleased = "nothing refers to the client any more, so it disconnects; keep it, as in a property, to stay connected"
    case shutDown = "the client was shut down and doesn't connect any more; make another one"
    case undelivered = "the time for shutting down was over before all that came was delivered"
    case leftOut = "more lines like this one were left out in the last minute"
    case establishedTwice = "the server established the connection twice; the second time is ignored"
    case pauseLimitReached = "nothing was read for as long as is allowed, and there still is no room for more"
    case streamNotRead = "a stream was not read in time"
    case subscribed
    case gap = "subscribed again; events sent meanwhile may be missing"
    case recovered = "subscribed again; what was sent meanwhile was replayed"
    case notRecovered = "not replayed"
    case notSubscribed = "not subscribed"
    case signedIn = "the user is signed in"
    case notSignedIn = "the user is not signed in"
    case unknownEvent = "unknown protocol event"
    case eventDropped = "event dropped: its channel is not subscribed"
    case notTriggered = "client event not sent"
    case notDecrypted = "event can't be decrypted"
    case staleAuthorization = "stale authorization, dropped"
    case staleUserAuthorization = "stale authorization of the user, dropped"
    case subscribedUnasked = "success of a subscription that was not asked for, ignored"
    case received = "message received"
    case sent = "message sent"
    case loaded
    case notLoaded = "not loaded, tried again"
    case signedInUnasked = "success of a sign-in that was not asked for, ignored"
}

/// The key of a log line's field.
enum LogKey: String, CaseIterable, Sendable {
    case key
    case host
    case connection
    case attempt
    case socketID = "socket_id"
    case delay
    case time
    case channel
    case event
    case stream
    case error
    case kind
    case code
    case limit
    case count
    case line
    case text
}

/// A field of a log line, which holds a value that varies.
struct LogField: Equatable, Sendable {
    let key: LogKey
    private let text: String
    private let limit: Int

    init(_ key: LogKey, _ value: String, upTo limit: Int = 200) {
        self.key = key
        self.text = value
        self.limit = limit
    }

    /// The value for a log handler, which puts it in quotation marks if its format needs them.
    var value: String { text.inLogLine(upTo: limit) }

    /// The value in a line: one plain word, or a text in quotation marks, so a server's text can't pass for another field or
    /// another line.
    var quoted: String { text.asLogValue(upTo: limit) }

    init(_ key: LogKey, _ name: Name) {
        self.init(key, name.text)
    }

    /// Creates a field of seconds with three decimal places, such as `1.350s`.
    init(_ key: LogKey, _ time: Duration) {
        self.init(key, time.inSeconds)
    }
}
