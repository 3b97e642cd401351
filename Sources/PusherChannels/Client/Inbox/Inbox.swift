/// Decodes what the socket reads, before the client's lock is taken: nobody who only wants to know the state has to wait for it.
final class Inbox: Sendable {
    /// The messages of a batch, decoded, with their texts for the log if it has each message.
    struct Messages {
        fileprivate var decoder: EnvelopeDecoder
        fileprivate(set) var inputs: [Input] = []
        fileprivate(set) var texts: [String] = []
    }

    private let logsMessages: Bool
    private let `protocol`: PusherProtocol
    /// The decoder, which knows the names that came before, and the memory of the last batch. Nil while a batch is handled.
    private let kept: Locked<Messages?>

    init(_ protocol: PusherProtocol, logsMessages: Bool) {
        self.protocol = `protocol`
        self.logsMessages = logsMessages
        kept = Locked(Messages(decoder: EnvelopeDecoder(`protocol`)))
    }

    /// Decodes a batch, and has the messages handled.
    func open(_ batch: borrowing MessageBatch, _ attempt: ConnectionAttempt, _ handle: (borrowing Messages) -> Void) {
        // A batch that comes while another is handled, as from a socket in memory, has a decoder of its own.
        var messages = kept.withLock { $0.take() } ?? Messages(decoder: EnvelopeDecoder(`protocol`))
        batch.forEachInBlocks { kind, block, range in
            let input = Self.decode(kind, block, range, attempt, &messages.decoder)
            if logsMessages { messages.texts.append(Self.text(of: input, kind, block[range])) }
            messages.inputs.append(input)
        }
        handle(messages)
        messages.inputs.removeAll(keepingCapacity: messages.inputs.capacity <= 1024)
        messages.texts = []
        kept.withLock { $0 = messages }
    }

    private static func decode(
        _ kind: MessageBatch.Kind, _ block: [UInt8], _ range: Range<Int>, _ attempt: ConnectionAttempt,
        _ decoder: inout EnvelopeDecoder
    ) -> Input {
        guard kind == .text else { return .receivedMalformed(.binary, attempt) }
        do {
            return .received(try decoder.decode(block, range), attempt)
        } catch {
            return .receivedMalformed(error, attempt)
        }
    }

    /// Returns the text of a message for the log, without user data that the server repeats: it came with a signature.
    private static func text(of input: Input, _ kind: MessageBatch.Kind, _ bytes: ArraySlice<UInt8>) -> String {
        // More than a line shows, so it ends as the line of a long message does.
        let text = kind == .text ? String(decoding: bytes.prefix(8192), as: UTF8.self) : "\(bytes.count) bytes that aren't text"
        switch input {
        case .received(.control(.signedIn, _), _): return #"{"event":"pusher:signin_success","data":…}"#
        // A malformed message may hold user data nevertheless.
        case .receivedMalformed where bytes.withUnsafeBytes({ $0.contains("signin_success") || $0.contains("user_data") }):
            return "\(bytes.count) bytes that make no sense, of a sign-in"
        default: return text
        }
    }
}
