import TestSupport
import Testing

struct ServerMachineTests {
    private let ping = #"{"event":"pusher:ping","data":{}}"#
    private let pong = #"1: {"event":"pusher:pong","data":{}}"#

    @Test func `A new connection gets its socket id and activity timeout as JSON in a string`() {
        let rig = ServerRig(open: 1)
        let data = #"{\"activity_timeout\":120,\"socket_id\":\"1.2\"}"#
        #expect(rig.sent == [#"1: {"event":"pusher:connection_established","data":"\#(data)"}"#])
        #expect(rig.effects.last == .notice(.connected(.init(1), appKey: "local-key", socketID: "1.2")))
    }

    @Test func `The same seed draws the same socket ids, all different and well formed`() {
        func socketIDs(seed: UInt64) -> [String] {
            ServerRig(ServerMachine(seed: seed), open: 500).machine.openConnections.map(\.socketID)
        }
        let ids = socketIDs(seed: 7)
        #expect(ids == socketIDs(seed: 7) && ids != socketIDs(seed: 8))
        #expect(Set(ids).count == 500)
        #expect(ids.allSatisfy { $0.wholeMatch(of: #/\d+\.\d+/#) != nil })
    }

    @Test(arguments: [
        ("/app/nobody?protocol=7", 4001), ("/app/local-key", 4008), ("/app/local-key?protocol=4", 4007),
        ("/app/local-key?protocol=8", 4007), ("/app/local-key?protocol=x", 4007), ("/elsewhere?protocol=7", 4005),
        ("/", 4005), ("", 4005),
    ])
    func `A connection that can't be served gets an error with a code, then is closed with it`(path: String, code: Int) {
        var rig = ServerRig()
        rig.open(1, path: path)
        #expect(rig.error?.code == code)
        #expect(rig.closes.first?.hasPrefix("1: \(code) ") == true)
        #expect(rig.machine.openConnections.isEmpty)
        rig.receive(ping, from: 1)
        #expect(rig.effects.isEmpty)
    }

    @Test(arguments: ["/prefix/app/local-key?protocol=7", "/app/local%2Dkey?protocol=7&unknown=1"])
    func `A path prefix, percent escapes, and unknown parameters are accepted in the URL`(path: String) {
        var rig = ServerRig()
        rig.open(1, path: path)
        #expect(rig.machine.openConnections.map(\.appKey) == ["local-key"])
    }

    @Test func `A client of protocol 5 gets no activity timeout`() {
        var rig = ServerRig()
        rig.open(1, path: "/app/local-key?protocol=5")
        #expect(rig.sent == [#"1: {"event":"pusher:connection_established","data":"{\"socket_id\":\"1.2\"}"}"#])
    }

    @Test func `A ping is answered with a pong, and pongs and unknown pusher events are ignored`() {
        var rig = ServerRig(open: 1)
        rig.receive(ping, from: 1)
        #expect(rig.sent == [pong])
        for event in ["pusher:pong", "pusher:unheard-of", "pusher_internal:member_added"] {
            rig.receive("{\"event\":\"\(event)\",\"data\":{}}", from: 1)
            #expect(rig.effects.isEmpty, "\(event)")
        }
    }

    @Test(arguments: [
        "", "nonsense", "[]", "null", "{}", #"{"event":7}"#, #"{"event":"pusher:subscribe"}"#,
        #"{"event":"pusher:subscribe","data":{"channel":7}}"#, #"{"event":"pusher:unsubscribe","data":"x"}"#,
        #"{"event":"pusher:ping""#,
    ])
    func `A malformed frame is answered with an error and leaves the connection open`(text: String) {
        var rig = ServerRig(open: 1)
        rig.receive(text, from: 1)
        #expect(rig.error != nil)
        #expect(rig.closes.isEmpty)
        #expect(rig.machine.openConnections.count == 1)
    }

    @Test func `A silent connection is pinged, then closed with 4201, unlike one that sends`() {
        var rig = ServerRig(.hosted, open: 2) { $0.idleTimeout = .seconds(100) }
        #expect(rig.machine.nextDeadline == .seconds(100))
        rig.now = .seconds(60)
        rig.receive(#"{"event":"pusher:pong"}"#, from: 2)
        rig.wait(until: .seconds(100))
        #expect(rig.sent == ["1: \(ping)"])
        #expect(rig.machine.nextDeadline == .seconds(130))
        rig.wait(until: .seconds(130))
        #expect(rig.closes == ["1: 4201 Pong reply not received"])
        #expect(rig.machine.openConnections.map(\.id.number) == [2])
        #expect(rig.machine.nextDeadline == .seconds(160))
    }

    @Test func `A connection that answers its pings is pinged after each idle time, however long the wait for a pong`() {
        var rig = ServerRig(.hosted, open: 1) { $0.idleTimeout = .seconds(5) }
        for time in [5, 10, 15] {
            #expect(rig.machine.nextDeadline == .seconds(time))
            rig.wait(until: .seconds(time))
            #expect(rig.sent == ["1: \(ping)"])
            rig.receive(#"{"event":"pusher:pong"}"#, from: 1)
        }
    }

    @Test func `Twenty thousand mangled frames don't trap, and the server still serves`() {
        var rig = ServerRig(ServerMachine(admission: .anyKey(secret: nil)), open: 1)
        let seeds = [
            ServerRig.subscription(
                to: "presence-room", auth: "local-key:00", channelData: #"{"user_id":"a","user_info":{"n":[1,2.5e3]}}"#),
            #"{"event":"client-typing","channel":"presence-room","data":{"text":"h\u00e9\ud83d\ude42llo","n":-1.5e-7}}"#,
            #"{"event":"pusher:unsubscribe","data":{"channel":"presence-room"}}"#,
            #"{"event":"pusher:ping","data":{}}"#,
        ].map { Array($0.utf8) }
        var random = SplitMix64(seed: 20_000)
        for _ in 0..<20_000 {
            var bytes = seeds[Int(random.next() % 4)]
            for _ in 0...(random.next() % 4) where !bytes.isEmpty {
                let position = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 4 {
                case 0: bytes[position] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: position)
                case 2: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: position)
                default: bytes.removeSubrange(position...)
                }
            }
            rig.receive(String(decoding: bytes, as: UTF8.self), from: 1)
        }
        rig.receive(ping, from: 1)
        #expect(rig.sent == [pong])
    }
}
