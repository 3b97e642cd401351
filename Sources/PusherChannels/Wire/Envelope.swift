/// One event object as it came over the wire, with its `data` not yet parsed.
///
/// It is a view of the bytes it was read from, which it shares with the few events beside it
/// (``MessageBatch/forEachInBlocks(_:)``). Texts are made from the bytes on request. Passing an envelope on costs one reference.
struct Envelope: Sendable {
    private final class Storage: Sendable {
        let event: Name
        let channel: Name?
        let block: [UInt8]
        let data: TextPiece
        let userID: TextPiece
        /// The whole object, for the number of bytes that are kept, and for the members that the protocol doesn't name. Its form
        /// is `absent` if there are no such members.
        let object: TextPiece

        init(event: Name, channel: Name?, block: [UInt8], data: TextPiece, userID: TextPiece, object: TextPiece) {
            self.event = event
            self.channel = channel
            self.block = block
            self.data = data
            self.userID = userID
            self.object = object
        }
    }

    private let storage: Storage

    /// Creates a view of an event object in a block.
    init(event: Name, channel: Name?, block: [UInt8], data: TextPiece, userID: TextPiece, object: TextPiece) {
        storage = Storage(event: event, channel: channel, block: block, data: data, userID: userID, object: object)
    }

    /// Creates an event from texts: one of this client's own, or one with decrypted data.
    init(event: Name, channel: Name? = nil, data: String? = nil, userID: String? = nil, extra: [Name: String]? = nil) {
        var block: [UInt8] = []
        func append(_ text: String?, _ form: TextPiece.Form) -> TextPiece {
            guard let text else { return .absent }
            defer { block.append(contentsOf: text.utf8) }
            return TextPiece(start: block.count, count: text.utf8.count, form: form)
        }
        let data = append(data, .plain)
        let userID = append(userID, .plain)
        let members = extra.map { $0.map { "\($0.key.text.quotedJSON):\($0.value)" }.joined(separator: ",") }
        let object = append(members.map { "{\($0)}" }, .raw)
        self.init(event: event, channel: channel, block: block, data: data, userID: userID, object: object)
    }

    var event: Name { storage.event }
    var channel: Name? { storage.channel }

    /// The string as sent; the raw text of any other JSON value; nil if absent or null.
    var data: String? { storage.data.text(in: storage.block) }
    var userID: String? { storage.userID.text(in: storage.block) }

    /// Indicates whether the server sent a JSON value other than a string. ``data`` is its raw text then.
    var isDataRaw: Bool { storage.data.form == .raw }

    var hasData: Bool { storage.data.form != .absent }

    /// Calls `body` with the UTF-8 bytes of ``data``, or with none if there is no data.
    func withData<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try storage.data.withUTF8(in: storage.block, body)
    }

    /// The number of bytes it keeps while it waits: those of the whole message, including names and white space.
    var size: Int {
        let parts = event.text.utf8.count + (channel?.text.utf8.count ?? 0) + storage.data.count + storage.userID.count
        // If the data was decrypted, the object holds only the other members.
        return max(storage.object.count, parts)
    }

    /// The top-level members that the protocol doesn't name, as raw JSON text; nil if there are none.
    var extra: [Name: String]? {
        let members = withObject { $0.membersBeyondTheProtocol() }
        return members?.isEmpty == true ? nil : members
    }

    /// Calls `body` with a scanner of the whole object; returns nil if the object has no members that the protocol doesn't name.
    func withObject<Result>(_ body: (inout JSONScanner) -> Result) -> Result? {
        guard storage.object.form != .absent else { return nil }
        return storage.object.withUTF8(in: storage.block) { bytes in
            var scanner = JSONScanner(bytes)
            return body(&scanner)
        }
    }

    /// Passes the data if the object's scanner is at it; returns whether it is. So who asks for another member doesn't read it again.
    func passData(in scanner: inout JSONScanner) -> Bool {
        let range = storage.data.range(in: storage.object)
        guard scanner.position == range.lowerBound else { return false }
        scanner.advance(range.count)
        return true
    }

    func renamed(_ event: Name) -> Envelope {
        Envelope(
            event: event, channel: channel, block: storage.block, data: storage.data, userID: storage.userID,
            object: storage.object)
    }

    func with(data: String) -> Envelope {
        Envelope(event: event, channel: channel, data: data, userID: userID, extra: extra)
    }
}

extension Envelope: Equatable {
    static func == (left: Envelope, right: Envelope) -> Bool {
        left.storage === right.storage
            || (left.event, left.channel) == (right.event, right.channel) && left.data.hasBytes(of: right.data)
                && left.userID.hasBytes(of: right.userID) && left.extra == right.extra
    }
}

extension Envelope: CustomStringConvertible {
    var description: String {
        "Envelope(event: \(event), channel: \(channel?.text ?? "none"), data: \(data ?? "none"), userID: \(userID ?? "none"))"
    }
}

extension String? {
    fileprivate func hasBytes(of other: String?) -> Bool {
        switch (self, other) {
        case (let left?, let right?): left.hasBytes(of: right)
        case (nil, nil): true
        case (_?, nil), (nil, _?): false
        }
    }
}
