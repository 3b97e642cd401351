/// A decoder of a frame's text. It makes a single pass, builds no intermediate tree, and makes no text except for new names.
struct EnvelopeDecoder: Sendable {
    private var names = NameTable()
    private let speaksSockudo: Bool

    /// Creates a decoder of what servers send in a protocol.
    init(_ protocol: PusherProtocol = .pusher) {
        speaksSockudo = `protocol` == .sockudo
    }

    /// Decodes the frame in a part of a block. The message refers to the block from then on.
    mutating func decode(_ block: [UInt8], _ range: Range<Int>) throws(MalformedMessage) -> ServerMessage {
        let (envelope, isReserved) = try read(block, range)
        guard isReserved else { return .event(envelope) }
        return try ServerMessage(reserved: speaksSockudo ? envelope.withPusherPrefix : envelope)
    }

    private mutating func read(
        _ block: [UInt8], _ range: Range<Int>
    ) throws(MalformedMessage) -> (envelope: Envelope, isReserved: Bool) {
        // A typed throw can't leave the closure.
        let result: Result<(Envelope, Bool), MalformedMessage> = block.withUnsafeBytes { bytes in
            let frame = UnsafeRawBufferPointer(rebasing: bytes[range])
            do throws(MalformedMessage) {
                let members = try Self.members(of: frame)
                guard let token = members.event else { throw .missingEvent }
                let event = name(token, in: frame)
                let envelope = Envelope(
                    event: event, channel: members.channel.map { name($0, in: frame) }, block: block,
                    data: members.data.piece(from: range.lowerBound), userID: members.userID.piece(from: range.lowerBound),
                    object: TextPiece(start: range.lowerBound, count: range.count, form: members.hasExtra ? .raw : .absent))
                let bytes = UnsafeRawBufferPointer(rebasing: frame[token.start..<token.end])
                // Comparing the bytes costs less than asking the name for them.
                var isReserved = token.hasEscapes ? event.begins(with: "pusher") : bytes.begins(with: "pusher")
                if speaksSockudo, !isReserved { isReserved = event.begins(with: "sockudo") }
                return .success((envelope, isReserved))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private mutating func name(_ token: JSONScanner.StringToken, in frame: UnsafeRawBufferPointer) -> Name {
        if token.hasEscapes { return Name(JSONScanner(frame).string(token)) }
        return names.name(UnsafeRawBufferPointer(rebasing: frame[token.start..<token.end]))
    }

    private static func members(of frame: UnsafeRawBufferPointer) throws(MalformedMessage) -> Members {
        var scanner = JSONScanner(frame)
        scanner.skipWhitespace()
        let isObject = scanner.current == UInt8(ascii: "{")
        var members = Members()
        do throws(JSONError) {
            if isObject { try members.read(from: &scanner) } else { try scanner.skipValue() }
            try scanner.expectEnd()
        } catch {
            throw .notJSON(error)
        }
        guard isObject else { throw .notAnObject }
        return members
    }
}

/// The members of an event object that the reader has seen so far.
private struct Members {
    /// A value that is kept as it stands in the frame.
    struct Value {
        var start = 0
        var count = 0
        var form = TextPiece.Form.absent

        func piece(from base: Int) -> TextPiece { TextPiece(start: base + start, count: count, form: form) }
    }

    var event: JSONScanner.StringToken?
    var channel: JSONScanner.StringToken?
    var data = Value()
    var userID = Value()
    var hasExtra = false

    mutating func read(from scanner: inout JSONScanner) throws(JSONError) {
        try scanner.scanContents(closedBy: UInt8(ascii: "}")) { scanner throws(JSONError) in
            let member = try scanner.scanMemberName()
            scanner.skipWhitespace()
            switch member {
            case .event: event = try scanner.scanStringValue()
            case .channel: channel = try scanner.scanStringValue()
            case .data: data = try scanner.scanPayload()
            case .userID: userID = try scanner.scanPayload()
            case nil:
                try scanner.skipValue()
                hasExtra = true
            }
        }
    }
}

/// The members of an event object that the protocol names.
private enum MemberName {
    case event
    case channel
    case data
    case userID
}

extension JSONScanner {
    /// Returns the members of an event object that the protocol doesn't name, as raw text. The object was read before. If several
    /// members have the same name, the last one counts.
    mutating func membersBeyondTheProtocol() -> [Name: String] {
        var members: [Name: String] = [:]
        skipWhitespace()
        do throws(JSONError) {
            try scanMembers { (key, scanner) throws(JSONError) in
                let start = scanner.position
                try scanner.skipValue()
                if scanner.member(key) == nil { members[Name(scanner.string(key))] = scanner.text(start..<scanner.position) }
            }
        } catch {
            return members  // It was well formed when the event was read.
        }
        return members
    }

    /// Returns the names of an object's members, including duplicates. The object was read before.
    mutating func memberNames() -> [Name] {
        var names: [Name] = []
        skipWhitespace()
        do throws(JSONError) {
            try scanMembers { (key, scanner) throws(JSONError) in
                names.append(Name(scanner.string(key)))
                try scanner.skipValue()
            }
        } catch {
            return names  // It was well formed when it was read.
        }
        return names
    }

    /// Passes the name of a member of an event object, and the colon after it; returns nil for one that the protocol doesn't name.
    @inline(__always)
    fileprivate mutating func scanMemberName() throws(JSONError) -> MemberName? {
        // Nearly all messages have these without white space, and comparing them takes a few instructions.
        if passes("\"event\":") { return .event }
        if passes("\"channel\":") { return .channel }
        if passes("\"data\":") { return .data }
        let key = try scanString()
        try skipColon()
        return member(key)
    }

    fileprivate func member(_ key: StringToken) -> MemberName? {
        if isText(key, "event") { return .event }
        if isText(key, "channel") { return .channel }
        if isText(key, "data") { return .data }
        if isText(key, "user_id") { return .userID }
        return nil
    }

    /// Reads a value that should be a string; returns nil for any other kind.
    fileprivate mutating func scanStringValue() throws(JSONError) -> StringToken? {
        if current == UInt8(ascii: "\"") { return try scanString() }
        try skipValue()
        return nil
    }

    /// Reads a value: the content of a string, the raw text of anything else, or nothing for null.
    fileprivate mutating func scanPayload() throws(JSONError) -> Members.Value {
        if current == UInt8(ascii: "\"") {
            let token = try scanString()
            return Members.Value(start: token.start, count: token.end - token.start, form: token.hasEscapes ? .escaped : .plain)
        }
        let start = position
        let isNull = current == UInt8(ascii: "n")
        try skipValue()
        return isNull ? Members.Value() : Members.Value(start: start, count: position - start, form: .raw)
    }
}

/// A message that can't be parsed. It is reported, and an established connection goes on.
enum MalformedMessage: Error, Equatable, Sendable, CustomStringConvertible {
    case notJSON(JSONError)
    case notAnObject
    case missingEvent
    case binary
    /// An event of the protocol itself lacks a required part.
    case incomplete(event: Name, missing: String)
    /// The connection was given an id that could be taken for something else where it is used.
    case unusableSocketID(String)

    /// Indicates whether an attempt to connect ends with it: no other message can still establish the connection.
    var endsAttempt: Bool {
        switch self {
        case .incomplete(let event, _): event.equals("pusher:connection_established")
        case .unusableSocketID: true
        case .notJSON, .notAnObject, .missingEvent, .binary: false
        }
    }

    var description: String {
        switch self {
        case .notJSON(let error): "the frame is not JSON: \(error)"
        case .notAnObject: "the frame is JSON, but not an object"
        case .missingEvent: "the frame has no event name"
        case .binary: "the frame is binary, which protocol 7 doesn't use"
        case .incomplete(let event, let missing): "\(event) came without \(missing)"
        case .unusableSocketID(let start):
            "the socket id \"\(start)\" isn't one: that is at most 128 letters, digits, dots, dashes and underscores"
        }
    }
}
