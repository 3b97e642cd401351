import Foundation
import Processes
import PusherChannels
import TestSupport
import Testing

/// A run of combining marks is one character to Swift; comparing or hashing it as a `String` takes quadratic time.
@Suite struct CombiningMarksTests {
    /// The places where a server may put any text, marked with percent signs.
    static let places = [
        #"{"event":"%","channel":"room","data":"{}"}"#,
        #"{"event":"%","data":"{}"}"#,
        #"{"event":"pusher:%","channel":"room","data":"{}"}"#,
        #"{"event":"n","channel":"%","data":"{}"}"#,
        #"{"event":"n","channel":"room","data":"%"}"#,
        #"{"event":"n","channel":"room","data":"{}","user_id":"%"}"#,
        #"{"event":"n","channel":"room","data":"{}","%":"%"}"#,
        #"{"event":"pusher:error","data":{"code":4301,"message":"%","%":1}}"#,
        #"{"event":"pusher:subscription_error","channel":"%","data":{"error":"%"}}"#,
        #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-room","data":{"presence":{"ids":["%"]}}}"#,
        #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-room","data":{"presence":{"hash":{"%":{"%":1}}}}}"#,
        #"{"event":"pusher_internal:member_added","channel":"presence-room","data":{"user_id":"%","user_info":{"%":"%"}}}"#,
        #"{"event":"pusher_internal:member_removed","channel":"presence-room","data":{"user_id":"%"}}"#,
        #"{"event":"pusher_internal:watchlist_events","data":{"events":[{"name":"%","user_ids":["%"]}]}}"#,
    ]

    private func client(_ change: (inout PusherClientOptions) -> Void = { _ in }) -> ClientRig {
        let rig = ClientRig.connected(change)
        rig.pusher.subscribe("room").bind(eventName: "n") { _ in }
        rig.pusher.bind { _ in }
        rig.pusher.connection.userDataFetcher = { PusherPresenceChannelMember(userId: "me") }
        rig.pusher.subscribe("presence-room")
        rig.pusher.user.watchlist.bind(eventName: "online") { _ in }
        return rig
    }

    /// Returns the lowest of three measurements, in seconds of this thread's processor time, which excludes other work on the
    /// machine.
    private func cost(_ place: String, marks: Int) -> Double {
        let text = "e" + String(repeating: "\u{301}", count: marks)
        return cost(of: place.components(separatedBy: "%").joined(separator: text), to: { client() })
    }

    private func cost(of message: String, to client: () -> ClientRig) -> Double {
        (0..<3).map { _ in
            let rig = client()
            let began = ThreadTime.seconds()
            rig.socket.serverSends(message)
            return ThreadTime.seconds() - began
        }.min() ?? 0
    }

    // Proves P2.10.
    @Test(arguments: places) func messagesCostWhatTheirLengthCosts(place: String) {
        let (short, long) = (cost(place, marks: 12_500), cost(place, marks: 200_000))
        #expect(long < 64 * short, "sixteen times as long; the square of it would be 256")
    }

    /// A flag consists of two code points, and Swift searches for the first one of a run.
    @Test(arguments: ["\u{301}", "\u{1F1E6}"]) func soDoesTheLogOfWhatIsNoMessage(unit: String) {
        let logging = { client { $0.logger = LineRecorder.logger(Locked([])) } }
        let (short, long) = (5_000, 80_000)
        let costs = [short, long].map { cost(of: String(repeating: unit, count: $0), to: logging) }
        #expect(costs[1] < 64 * costs[0])
    }
}
