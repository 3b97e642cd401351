#if canImport(CLibwebsockets)
import CLibwebsockets

/// A text message as libwebsockets wants it: with room in front, where it puts the frame's header.
struct OutgoingMessage: Sendable {
    private var bytes: [UInt8]

    init(_ text: String) {
        let padding = Int(CLWS_PRE)
        var text = text
        bytes = text.withUTF8 { utf8 in
            [UInt8](unsafeUninitializedCapacity: padding + utf8.count) { buffer, count in
                buffer.initialize(repeating: 0)
                _ = UnsafeMutableBufferPointer(rebasing: buffer[padding...]).update(fromContentsOf: utf8)
                count = padding + utf8.count
            }
        }
    }

    /// Hands the message to libwebsockets, which masks it where it lies and keeps what the kernel doesn't take at once.
    mutating func write(to wsi: OpaquePointer) -> Bool {
        bytes.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            let padding = Int(CLWS_PRE)
            return clws_write(wsi, start + padding, buffer.count - padding, Int32(LWS_WRITE_TEXT.rawValue)) >= 0
        }
    }
}

/// Our close frame.
struct CloseFrame {
    let code: UInt16
    let reason: String

    /// Has libwebsockets send the frame when the callback it is in returns -1.
    func prepare(on wsi: OpaquePointer) {
        // All that a control frame has room for, and no half character.
        var reason = reason
        while reason.utf8.count > 123 { reason.removeLast() }
        reason.withUTF8 { bytes in
            lws_close_reason(wsi, lws_close_status(UInt32(code)), UnsafeMutablePointer(mutating: bytes.baseAddress), bytes.count)
        }
    }
}

/// The messages that wait for the socket to take them, first in, first out.
struct OutputQueue {
    private var messages: [OutgoingMessage?] = []
    private var head = 0

    var isEmpty: Bool { head == messages.count }

    mutating func append(_ message: OutgoingMessage) {
        messages.append(message)
    }

    mutating func popFirst() -> OutgoingMessage? {
        guard head < messages.count else { return nil }
        let message = messages[head]
        messages[head] = nil
        head += 1
        if isEmpty {
            removeAll()
        } else if head >= 1024, head * 2 >= messages.count {
            // Moved up in bulk: a queue that never empties must not grow, and removing the first one by one costs the square.
            messages.removeFirst(head)
            head = 0
        }
        return message
    }

    mutating func removeAll() {
        messages.removeAll()
        head = 0
    }
}
#endif
