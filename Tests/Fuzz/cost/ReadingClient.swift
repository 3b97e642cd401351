import Foundation

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
        var effects: [Effect] = []
        machine.handle(input, at: .origin, into: &effects)
        for effect in effects {
            switch effect {
            case .authorize(let attempt, _):
                let secret = ChannelName(attempt.channel).kind == .encrypted ? "key" : nil
                let auth = PusherAuth(auth: "k:s", channelData: #"{"user_id":"me"}"#, sharedSecret: secret)
                tell(.authorized(attempt, .success(auth)))
            case .authorizeUser(let attempt, _):
                tell(.userAuthorized(attempt, .success(PusherUserAuth(auth: "k:s", userData: #"{"id":"me"}"#))))
            default: break
            }
        }
    }
}
