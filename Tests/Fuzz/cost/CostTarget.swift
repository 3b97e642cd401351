import Foundation

/// Checks that the cost of a large message is proportional to its length. The message has a repeated piece in one of its places,
/// with an optional head and tail around the repetitions.
///
/// `benchmarks cost` tries known pieces and measures the whole client. Here, libFuzzer makes up pieces for the code that reads
/// them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var input = FuzzInput(data, size)
    let place = CostPlace.all[input.choice() % CostPlace.all.count]
    let (head, tail) = (text(input.choices()), text(input.choices()))
    let piece = text(input.rest)
    guard !piece.isEmpty else { return 0 }
    let shape = CostShape("made up", head, tail) { _ in piece }
    let message = place.message(shape, isText: false, size: 1 << 16)
    // Interference only makes a try longer, so the shortest try counts.
    let isCheap = (0..<4).contains { _ in ReadingClient.cost(of: message.bytes, in: place.scene) < limit * Double(message.length)
    }
    require(isCheap, "\(place.name): \(head) \(piece) … \(tail)")
    return 0
}

/// The limit in nanoseconds per byte. The sanitizer makes everything about ten times as slow; quadratic code is a thousand times
/// as slow.
private let limit = 1_000.0

private func text(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
}

/// A client that reads messages, consisting of the decoder and the machine.
struct ReadingClient {
    private var machine = ConnectionMachine(configuration: ConnectionMachine.Configuration(), seed: 1)
    private var decoder = EnvelopeDecoder()

    private init(in scene: CostScene) {
        tell(.connect)
        tell(.socketOpened(machine.attempt))
        for channel in ["room", "waiting", "private-encrypted-room"] as [Name] { tell(.subscribe(channel: channel, auth: nil)) }
        tell(.subscribe(channel: "presence-room", auth: nil))
        tell(.signIn)
        for frame in scene.frames { receive(Array(frame.utf8)) }
    }

    /// Returns the nanoseconds of this thread's time that a message takes.
    static func cost(of message: [UInt8], in scene: CostScene) -> Double {
        var client = ReadingClient(in: scene)
        let began = clock()
        client.receive(message)
        return clock() - began
    }

    private static func clock() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    private mutating func receive(_ message: [UInt8]) {
        do throws(MalformedMessage) {
            tell(.received(try decoder.decode(message, 0..<message.count), machine.attempt))
        } catch {
            tell(.receivedMalformed(error, machine.attempt))
        }
    }

    /// Passes an input to the machine, and grants every authorization that it requests at once.
    private mutating func tell(_ input: Input) {
        machine.handle(input, at: .origin)
        for output in machine.takeOutputs() {
            switch output {
            case .command(.authorize(let attempt, _)):
                let secret = ChannelName(attempt.channel).kind == .encrypted ? "key" : nil
                let auth = PusherAuth(auth: "k:s", channelData: #"{"user_id":"me"}"#, sharedSecret: secret)
                tell(.authorized(attempt, .success(auth)))
            case .command(.authorizeUser(let attempt, _)):
                tell(.userAuthorized(attempt, .success(PusherUserAuth(auth: "k:s", userData: #"{"id":"me"}"#))))
            default: break
            }
        }
    }
}
