import TestSupport
import Testing

/// What can be switched on in a Sockudo server's protocol V2, its faults among it, one by one.
struct SockudoSwitchTests {
    /// Returns a server without a history, on which one connection of protocol V2 is subscribed to the channel `a`.
    private func rig(_ change: (inout ServerProfile.SockudoV2) -> Void = { _ in }) -> ServerRig {
        var settings = ServerProfile.SockudoV2()
        change(&settings)
        var rig = ServerRig(.sockudoV2) { $0.sockudoV2 = settings }
        rig.open(1, path: "/app/local-key?protocol=2")
        rig.subscribe(1, to: "a")
        return rig
    }

    private func publish(_ rig: inout ServerRig, _ count: Int = 1) -> [String] {
        (0..<count).flatMap { _ in
            rig.post(#"{"name":"e","channel":"a","data":"x"}"#)
            return told(rig)
        }
    }

    private func resume(_ rig: inout ServerRig, after serial: Int, stream: String? = nil) -> [String] {
        let stream = stream.map { #","stream_id":"\#($0)""# } ?? ""
        rig.receive(
            #"{"event":"sockudo:resume","data":{"channel_positions":{"a":{"serial":\#(serial)\#(stream)}}}}"#, from: 1)
        return told(rig)
    }

    private func wait(_ rig: inout ServerRig, until time: Instant) -> [String] {
        rig.wait(until: time)
        return told(rig)
    }

    /// What was sent, in short: an event by its serial.
    private func told(_ rig: ServerRig) -> [String] {
        rig.frames.map { frame in
            let name = frame["event"]?.stringValue ?? ""
            return name == "e" ? "\(frame["serial"]?.integerValue ?? -1)" : String(name.split(separator: ":").last ?? "")
        }
    }

    private func failure(_ rig: ServerRig) -> String? {
        let data = rig.frames.first { $0["event"] == "sockudo:resume_failed" }?["data"]?.stringValue
        return data.flatMap { try? JSONValue(parsing: $0) }?["code"]?.stringValue
    }

    // MARK: Time

    @Test func `Events that come while a replay is made are sent after its answer`() {
        var rig = rig { $0.answerDelay = .seconds(1) }
        #expect(publish(&rig, 2) == ["1", "2"])
        #expect(resume(&rig, after: 0).isEmpty)
        #expect(publish(&rig, 2).isEmpty)
        #expect(wait(&rig, until: .milliseconds(999)).isEmpty)
        #expect(wait(&rig, until: .seconds(1)) == ["1", "2", "3", "4", "resume_success", "3", "4"])
        #expect(publish(&rig) == ["5"])
    }

    @Test func `Events that come while a replay is made may be sent before it, too`() {
        var rig = rig { ($0.answerDelay, $0.sendsLiveEventsTwice) = (.seconds(1), true) }
        _ = publish(&rig)
        _ = resume(&rig, after: 0)
        #expect(publish(&rig) == ["2"])
        #expect(wait(&rig, until: .seconds(1)) == ["1", "2", "resume_success", "2"])
    }

    @Test func `Events between a success and the connection's part in the channel come by a replay only`() {
        var rig = rig { $0.joinDelay = .milliseconds(20) }
        #expect(publish(&rig).isEmpty)
        rig.wait(until: .milliseconds(20))
        #expect(publish(&rig) == ["2"])
        #expect(resume(&rig, after: 0) == ["1", "2", "resume_success"])
    }

    @Test func `A success that is late comes after events of its channel, which it counts`() {
        var rig = rig { $0.successDelay = .milliseconds(20) }
        #expect(rig.sent.isEmpty)
        #expect(publish(&rig) == ["1"])
        #expect(wait(&rig, until: .milliseconds(20)) == ["subscription_succeeded"])
        #expect(rig.frames[0]["serial"] == 1)
        #expect(wait(&rig, until: .seconds(1)).isEmpty, "once")
    }

    @Test func `Each request for a channel is answered, also one that another follows before its late success`() {
        var rig = rig { $0.successDelay = .milliseconds(20) }
        rig.unsubscribe(1, from: "a")
        #expect(told(rig) == ["subscription_succeeded"])
        rig.subscribe(1, to: "a")
        #expect(rig.sent.isEmpty)
        rig.subscribe(1, to: "a")
        #expect(told(rig) == ["subscription_succeeded"])
        #expect(wait(&rig, until: .milliseconds(20)) == ["subscription_succeeded"])
        rig.subscribe(1, to: "cache-a")
        #expect(wait(&rig, until: .milliseconds(40)) == ["subscription_succeeded", "cache_miss"])
        rig.subscribe(1, to: "b")
        rig.handle(.closed(ServerRig.ID(1)))
        #expect(wait(&rig, until: .seconds(1)).isEmpty)
    }

    @Test func `With a history a connection gets a channel's events from the success on`() {
        var rig = rig { ($0.historyLength, $0.joinDelay) = (10, .seconds(1)) }
        #expect(publish(&rig) == ["1"])
    }

    @Test func `A silent connection is sent a ping frame each minute, and closed if it doesn't answer`() {
        var rig = rig()
        for time in [Instant.seconds(60), .seconds(120)] {
            rig.wait(until: time - .milliseconds(1))
            #expect(rig.effects.isEmpty)
            rig.wait(until: time)
            #expect(rig.effects == [.ping(ServerRig.ID(1))])
            if time == .seconds(60) { rig.handle(.pong(ServerRig.ID(1))) }
        }
        rig.wait(until: .milliseconds(149_999))
        #expect(rig.effects.isEmpty)
        rig.wait(until: .seconds(150))
        #expect(rig.closes == ["1: 4201 Pong reply not received in time"])
        #expect(rig.sent.isEmpty)
        // On protocol 7 only its own pongs count.
        var other = ServerRig(.sockudo, open: 1) { $0.idleTimeout = .seconds(60) }
        other.wait(until: .seconds(60))
        #expect(other.sent == [#"1: {"event":"pusher:ping","data":{}}"#])
        other.handle(.pong(ServerRig.ID(1)))
        other.wait(until: .seconds(90))
        #expect(other.closes == ["1: 4201 Pong reply not received"])
    }

    // MARK: Refusals

    @Test(arguments: [(nil, "position_expired"), (10, "continuity_unverifiable")] as [(Int?, String)])
    func `A replay may be refused although nothing is missing`(historyLength: Int?, code: String) throws {
        var rig = rig { ($0.refusedReplays, $0.historyLength) = (100, historyLength) }
        let stream = try #require(rig.frames.first?["stream_id"]?.stringValue)
        _ = publish(&rig)
        #expect(resume(&rig, after: 0, stream: stream) == ["resume_failed", "resume_success"])
        #expect(failure(rig) == code)
    }

    @Test func `A history that can't be read leaves what is in the buffer`() throws {
        var rig = rig { ($0.historyLength, $0.losesHistory, $0.bufferLifetime) = (10, true, .seconds(1)) }
        let stream = try #require(rig.frames.first?["stream_id"]?.stringValue)
        _ = publish(&rig)
        #expect(resume(&rig, after: 0, stream: stream) == ["1", "resume_success"])
        rig.now = .seconds(1)
        #expect(resume(&rig, after: 0, stream: stream) == ["resume_failed", "resume_success"])
        #expect(failure(rig) == "persistence_unavailable")
    }

    @Test(arguments: [false, true])
    func `Replays that are too large together end the connection`(isOneRequest: Bool) {
        var rig = rig { ($0.maximumFrames, $0.answerDelay) = (10, .seconds(1)) }
        rig.subscribe(1, to: "b")
        for _ in 0..<5 { rig.post(#"{"name":"e","channels":["a","b"],"data":"x"}"#) }
        let places = ["a", "b"].map { #""\#($0)":{"serial":0}"# }
        for places in isOneRequest ? [places.joined(separator: ",")] : places {
            rig.receive(#"{"event":"sockudo:resume","data":{"channel_positions":{\#(places)}}}"#, from: 1)
        }
        rig.wait(until: .seconds(1))
        #expect(rig.closes == ["1: 1006 "])
        #expect(rig.sent.count == (isOneRequest ? 0 : 6))
    }

    @Test func `A channel to which the connection isn't subscribed isn't replayed`() {
        var rig = rig()
        _ = publish(&rig)
        rig.unsubscribe(1, from: "a")
        #expect(resume(&rig, after: 0) == ["error"])
        #expect(rig.error?.code == 4301 && rig.error?.message == "Resume before the subscription to a")
    }

    @Test func `A history that keeps five events says that it doesn't have those before`() {
        var rig = rig { ($0.historyLength, $0.bufferLength) = (5, 2) }
        _ = publish(&rig, 8)
        rig.receive(
            #"{"event":"sockudo:channel_history","data":"{\"channel\":\"a\",\"direction\":\"oldest_first\",\"start_serial\":1}"}"#,
            from: 1)
        let page = rig.frames.first?["data"]
        #expect(page?["items"]?.arrayValue?.compactMap { $0["serial"]?.integerValue } == Array(4...8))
        #expect(page?["continuity"]?["truncated_by_retention"] == true && page?["continuity"]?["complete"] == false)
    }

    @Test func `A history forgets what is older than its lifetime, and says so`() throws {
        var rig = rig { ($0.historyLength, $0.bufferLength, $0.historyLifetime) = (100, 1, .seconds(10)) }
        let stream = try #require(rig.frames.first?["stream_id"]?.stringValue)
        _ = publish(&rig, 3)
        rig.now = .seconds(10)
        let page = #"{"event":"sockudo:channel_history","data":"{\"channel\":\"a\",\"direction\":\"backwards\",\"limit\":5000}"}"#
        for count in [0, 2] {
            if count > 0 { _ = publish(&rig, count) }
            #expect(resume(&rig, after: 1, stream: stream) == ["resume_failed", "resume_success"])
            #expect(failure(rig) == "position_expired")
            rig.receive(page, from: 1)
            let data = rig.frames.first?["data"]
            #expect(data?["items"]?.arrayValue?.compactMap { $0["serial"]?.integerValue } == [5, 4].suffix(count))
            #expect(data?["continuity"]?["truncated_by_retention"] == true && data?["limit"] == 100)
        }
    }

    @Test func `A past that the history has in part is told as cut off, and none is sent where that is switched off`() {
        var rig = rig { ($0.historyLength, $0.bufferLength) = (5, 2) }
        _ = publish(&rig, 8)
        rig.receive(#"{"event":"sockudo:subscribe","data":{"channel":"a","rewind":100}}"#, from: 1)
        #expect(told(rig) == ["subscription_succeeded", "4", "5", "6", "7", "8", "rewind_complete"])
        let end = rig.frames.last?["data"]
        #expect(end?["historical_count"] == 5 && end?["truncated_by_retention"] == true && end?["complete"] == false)
        rig = self.rig { ($0.historyLength, $0.rewinds) = (5, false) }
        rig.receive(#"{"event":"sockudo:subscribe","data":{"channel":"b","rewind":100}}"#, from: 1)
        #expect(rig.error?.code == 4300 && rig.sent.count == 1)
    }

    // MARK: Streams and order

    @Test func `A success may name another stream than the events do, which is the one to ask with`() throws {
        var rig = rig { ($0.historyLength, $0.namesOtherStreams) = (10, true) }
        let named = try #require(rig.frames.first?["stream_id"]?.stringValue)
        _ = publish(&rig)
        let stream = try #require(rig.frames.first?["stream_id"]?.stringValue)
        #expect(named != stream)
        #expect(resume(&rig, after: 0, stream: named) == ["resume_failed", "resume_success"])
        #expect(failure(rig) == "stream_reset")
        #expect(resume(&rig, after: 0, stream: stream) == ["1", "resume_success"])
    }

    @Test func `An event may come after its successor, or late if it has none`() {
        var rig = rig { $0.swappedEvents = 100 }
        #expect(publish(&rig).isEmpty)
        #expect(publish(&rig) == ["2", "1"])
        #expect(publish(&rig).isEmpty)
        #expect(wait(&rig, until: .milliseconds(50)) == ["3"])
    }
}
