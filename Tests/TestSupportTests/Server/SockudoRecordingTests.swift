import TestSupport
import Testing

/// What a Sockudo server 5.0.1 sent on its protocol V2, beside what ours sends. `A>` is what connection A sends, or the address that
/// it opens, `A<` what it gets; V speaks protocol 7, and H is the backend, whose answers are here if they are refusals. `<s>` stands
/// for the same text each time, `<>` for any. The socket ids are the recorded ones, so that the signatures hold, and lists are in our
/// server's order.
struct SockudoRecordingTests {
    @Test func `A server with a history sends each frame as it was recorded, member by member`() throws {
        try check(Self.withHistory) { ($0.bufferLength, $0.replaysUnsubscribed) = (10, true) }
    }

    @Test func `A server without replays sends each frame as it was recorded`() throws {
        try check(Self.withoutReplays) { $0.replays = false }
    }

    @Test func `A server without a history sends each frame as it was recorded`() throws {
        try check(Self.withoutHistory) { ($0.historyLength, $0.bufferLength, $0.bufferLifetime) = (nil, 10, .seconds(3)) }
    }

    private func check(_ recording: String, _ change: (inout ServerProfile.SockudoV2) -> Void) throws {
        let lines = recording.split(separator: "\n").map(String.init)
        let socketIDs = lines.compactMap { line in
            line.firstMatch(of: #/socket_id\\":\\"([0-9.]+)/#).map { String($0.1) }
        }
        var profile = ServerProfile.sockudoV2
        var settings = try #require(profile.sockudoV2)
        change(&settings)
        profile.sockudoV2 = settings
        var player = Player(rig: ServerRig(ServerMachine(profile: profile, socketIDs: socketIDs)))
        for line in lines { player.play(line) }
        #expect(player.came.values.allSatisfy { $0.isEmpty }, "sent, but not recorded: \(player.came)")
    }

    private static let withHistory = #"""
        A> GET /app/local-key?protocol=2
        A< {"event":"sockudo:connection_established","data":"{\"socket_id\":\"3830892645.9416331501\",\"activity_timeout\":120}","message_id":"<>"}
        V> GET /app/local-key?protocol=7
        V< {"event":"pusher:connection_established","data":"{\"socket_id\":\"3196472510.9905270355\",\"activity_timeout\":120}"}
        X> GET /app/local-key
        X< {"event":"pusher:connection_established","data":"{\"activity_timeout\":120,\"socket_id\":\"8941814241.8051331552\"}"}
        X> GET /app/nope?protocol=2
        X< [eof]
        X> GET /app/nope?protocol=7
        X< [eof]
        A> {"event":"sockudo:ping"}
        A< {"event":"sockudo:pong"}
        V> {"event":"pusher:ping","data":{}}
        V< {"event":"pusher:pong"}
        A> {"event":"sockudo:subscribe","data":{"channel":"prices"}}
        A< {"event":"sockudo_internal:subscription_succeeded","channel":"prices","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<s>","serial":0}
        A> {"event":"pusher:subscribe","data":"{\"channel\": \"other\"}"}
        A< {"event":"sockudo_internal:subscription_succeeded","channel":"other","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<o>","serial":0}
        V> {"event":"pusher:subscribe","data":{"channel":"prices"}}
        V< {"event":"pusher_internal:subscription_succeeded","channel":"prices","data":"{}"}
        H> {"name":"e","data":"{\"p\":1}","channel":"prices"}
        A< {"event":"e","channel":"prices","data":"{\"p\":1}","message_id":"<>","stream_id":"<s>","serial":1}
        V< {"event":"e","channel":"prices","data":"{\"p\":1}"}
        H> {"name":"e","data":"2","channel":"prices","tags":{"k":"v"},"extras":{"headers":{"h":"1"}}}
        A< {"event":"e","channel":"prices","data":"2","tags":{"k":"v"},"message_id":"<>","stream_id":"<s>","serial":2,"extras":{"headers":{"h":"1"}}}
        V< {"event":"e","channel":"prices","data":"2"}
        H> {"name":"e","data":"eph","channel":"prices","extras":{"ephemeral":true}}
        A< {"event":"e","channel":"prices","data":"eph","message_id":"<>","extras":{"ephemeral":true}}
        V< {"event":"e","channel":"prices","data":"eph"}
        H> {"name":"e","data":"3","channels":["prices","other"]}
        A< {"event":"e","channel":"prices","data":"3","message_id":"<>","stream_id":"<s>","serial":3}
        A< {"event":"e","channel":"other","data":"3","message_id":"<>","stream_id":"<o>","serial":1}
        V< {"event":"e","channel":"prices","data":"3"}
        A> {"event":"pusher:subscribe","data":{"channel":"prices"}}
        A< {"event":"sockudo_internal:subscription_succeeded","channel":"prices","data":"{\"attach_serial\":3}","message_id":"<>","stream_id":"<s>","serial":3}
        A> {"event":"pusher:subscribe","data":{"channel":"private-c","auth":"local-key:0a79809c93f11b62a9577308ea2f5ffc1cd29a420b26bbdfca4f0d30089dd198"}}
        A< {"event":"sockudo_internal:subscription_succeeded","channel":"private-c","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<c>","serial":0}
        A> {"event":"pusher:subscribe","data":{"channel":"presence-r","channel_data":"{\"user_id\":\"u1\",\"user_info\":{\"n\":1}}","auth":"local-key:fc79d3b8037d75ca61f23e21304d80af44115f5e344a98e153c4f85c7daeba45"}}
        A< {"event":"sockudo_internal:subscription_succeeded","channel":"presence-r","data":"{\"presence\":{\"count\":1,\"hash\":{\"u1\":{\"n\":1}},\"ids\":[\"u1\"]},\"attach_serial\":0}","message_id":"<>","stream_id":"<r>","serial":0}
        B> GET /app/local-key?protocol=2
        B< {"event":"sockudo:connection_established","data":"{\"socket_id\":\"3087939548.6993429192\",\"activity_timeout\":120}","message_id":"<>"}
        B> {"event":"pusher:subscribe","data":{"channel":"presence-r","channel_data":"{\"user_id\":\"u2\"}","auth":"local-key:00a8254327d9d02b4e000a5c75ac5fcaad0550b4badc384d152a45b427670ff0"}}
        B< {"event":"sockudo_internal:subscription_succeeded","channel":"presence-r","data":"{\"presence\":{\"count\":2,\"hash\":{\"u2\":{},\"u1\":{\"n\":1}},\"ids\":[\"u1\",\"u2\"]},\"attach_serial\":0}","message_id":"<>","stream_id":"<r>","serial":0}
        A< {"event":"sockudo_internal:member_added","channel":"presence-r","data":"{\"user_info\":{},\"user_id\":\"u2\"}"}
        H> {"name":"e","data":"x","channel":"presence-r"}
        A< {"event":"e","channel":"presence-r","data":"x","message_id":"<>","stream_id":"<r>","serial":1}
        B< {"event":"e","channel":"presence-r","data":"x","message_id":"<>","stream_id":"<r>","serial":1}
        B  -- drops
        A< {"event":"sockudo_internal:member_removed","channel":"presence-r","data":"{\"user_id\":\"u2\"}"}
        A> {"event":"pusher:subscribe","data":{"channel":"cache-c"}}
        A< {"event":"sockudo_internal:subscription_succeeded","channel":"cache-c","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<cache>","serial":0}
        A< {"event":"sockudo:cache_miss","channel":"cache-c","data":"{}","message_id":"<>"}
        H> {"name":"e","data":"cached","channel":"cache-c"}
        A< {"event":"e","channel":"cache-c","data":"cached","message_id":"<>","stream_id":"<cache>","serial":1}
        B> GET /app/local-key?protocol=2
        B< {"event":"sockudo:connection_established","data":"{\"socket_id\":\"2953087625.9133627382\",\"activity_timeout\":120}","message_id":"<>"}
        B> {"event":"pusher:subscribe","data":{"channel":"cache-c"}}
        B< {"event":"sockudo_internal:subscription_succeeded","channel":"cache-c","data":"{\"attach_serial\":1}","message_id":"<>","stream_id":"<cache>","serial":1}
        B< {"event":"e","channel":"cache-c","data":"cached","message_id":"<>"}
        A> {"event":"pusher:subscribe","data":{"channel":"private-encrypted-e","auth":"local-key:8748b3f79310fc3eee3e57937b0cbde29361c058d197372124bd28c187ba2163"}}
        A< {"event":"sockudo_internal:subscription_succeeded","channel":"private-encrypted-e","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<e>","serial":0}
        H> {"name":"e","data":"{\"nonce\":\"bm9uY2U=\",\"ciphertext\":\"Y2lwaGVy\"}","channel":"private-encrypted-e"}
        A< {"event":"e","channel":"private-encrypted-e","data":"{\"nonce\":\"bm9uY2U=\",\"ciphertext\":\"Y2lwaGVy\"}","message_id":"<>","stream_id":"<e>","serial":1}
        A> {"event":"client-foo","data":{"x":1},"channel":"private-c"}
        A< {"event":"client-foo","channel":"private-c","data":{"x":1},"message_id":"<>","stream_id":"<c>","serial":1}
        N> GET /app/local-key?protocol=2&echo_messages=false
        N< {"event":"sockudo:connection_established","data":"{\"socket_id\":\"9862367703.3764435519\",\"activity_timeout\":120}","message_id":"<>"}
        N> {"event":"pusher:subscribe","data":{"channel":"private-c","auth":"local-key:d055f465a6fa10a454a0a20a3cbc22fb7fc734217b3d6c6a5b2bd655d862b82a"}}
        N< {"event":"sockudo_internal:subscription_succeeded","channel":"private-c","data":"{\"attach_serial\":1}","message_id":"<>","stream_id":"<c>","serial":1}
        N> {"event":"client-foo","data":{"x":2},"channel":"private-c"}
        A< {"event":"client-foo","channel":"private-c","data":{"x":2},"message_id":"<>","stream_id":"<c>","serial":2}
        A> {"event":"client-foo","data":{"x":3},"channel":"private-c","extras":{"echo":false}}
        A< {"event":"client-foo","channel":"private-c","data":{"x":3},"message_id":"<foo>","stream_id":"<c>","serial":3}
        N< {"event":"client-foo","channel":"private-c","data":{"x":3},"message_id":"<foo>","stream_id":"<c>","serial":3}
        N  -- drops
        H> {"name":"e","data":"not for A","channel":"private-c","socket_id":"3830892645.9416331501"}
        H> {"name":"e","data":"for all","channel":"private-c"}
        A< {"event":"e","channel":"private-c","data":"for all","message_id":"<>","stream_id":"<c>","serial":5}
        A> not json
        A< {"event":"sockudo:error","data":{"message":"Invalid message format: Decode failed: JSON deserialization failed<rest>","code":4000},"message_id":"<>"}
        A> {"event":"sockudo:subscribe","data":{"channel":"private-x","auth":"local-key:00"}}
        A< {"event":"sockudo:error","data":{"code":4009,"message":"Authentication error: Channel requires authentication"},"message_id":"<>"}
        A> {"event":"sockudo:subscribe","data":{"channel":"private-x"}}
        A< {"event":"sockudo:error","data":{"message":"Authentication error: Authentication signature required for this channel","code":4009},"message_id":"<>"}
        A> {"event":"sockudo:subscribe","data":{"channel":"bad name!"}}
        A< {"event":"sockudo:error","data":{"code":4300,"message":"Channel error: Channel name contains invalid characters: 'bad name!' (invalid chars: [' ', '!'])"},"message_id":"<>"}
        A> {"event":"client-foo","data":{},"channel":"prices"}
        A< {"event":"sockudo:error","data":{"code":4301,"message":"Client event error: Client events can only be sent to private or presence channels"},"message_id":"<>"}
        A> {"event":"client-foo","data":{},"channel":"private-nosub"}
        A< {"event":"sockudo:error","data":{"code":4301,"message":"Client event error: Socket 3830892645.9416331501 is not subscribed to channel private-nosub"},"message_id":"<>"}
        A> {"event":"sockudo:frobnicate","data":{}}
        V> {"event":"pusher:subscribe","data":{"channel":"private-x","auth":"local-key:00"}}
        V< {"event":"pusher:error","data":{"message":"Authentication error: Channel requires authentication","code":4009}}
        V> {"event":"pusher:subscribe","data":{"channel":"rw","rewind":2}}
        V< {"event":"pusher:error","data":{"message":"Channel error: Channel rewind is only supported on protocol V2","code":4300}}
        A  -- drops
        H> {"name":"e","data":"away 0","channel":"private-c"}
        H> {"name":"e","data":"away 1","channel":"private-c"}
        H> {"name":"e","data":"away 2","channel":"private-c"}
        B> GET /app/local-key?protocol=2
        B< {"event":"sockudo:connection_established","data":"{\"socket_id\":\"6442096304.9126237305\",\"activity_timeout\":120}","message_id":"<>"}
        B> {"event":"pusher:subscribe","data":{"channel":"private-c","auth":"local-key:774659b645a8eac6bf0df341d20185685a7c441c3567f7016df7a54e20b556d0"}}
        B< {"event":"sockudo_internal:subscription_succeeded","channel":"private-c","data":"{\"attach_serial\":8}","message_id":"<>","stream_id":"<c>","serial":8}
        B> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"private-c\": {\"serial\": 5, \"stream_id\": \"<c>\"}}}"}
        B< {"event":"e","channel":"private-c","data":"away 0","message_id":"<>","stream_id":"<c>","serial":6}
        B< {"event":"e","channel":"private-c","data":"away 1","message_id":"<>","stream_id":"<c>","serial":7}
        B< {"event":"e","channel":"private-c","data":"away 2","message_id":"<away>","stream_id":"<c>","serial":8}
        B< {"event":"sockudo:resume_success","data":"{\"failed\":[],\"recovered\":[{\"replayed\":3,\"source\":\"hot\",\"position\":{\"last_message_id\":\"<away>\",\"stream_id\":\"<c>\",\"serial\":8},\"channel\":\"private-c\"}]}","message_id":"<>"}
        B> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"private-c\": {\"serial\": 8, \"stream_id\": \"<c>\"}}}"}
        B< {"event":"sockudo:resume_success","data":"{\"failed\":[],\"recovered\":[{\"position\":null,\"source\":\"hot\",\"replayed\":0,\"channel\":\"private-c\"}]}","message_id":"<>"}
        B> {"event":"sockudo:resume","data":{"channel_positions":{"private-c":{"serial":5,"stream_id":"<c>","last_message_id":"x"}}}}
        B< {"event":"e","channel":"private-c","data":"away 0","message_id":"<>","stream_id":"<c>","serial":6}
        B< {"event":"e","channel":"private-c","data":"away 1","message_id":"<>","stream_id":"<c>","serial":7}
        B< {"event":"e","channel":"private-c","data":"away 2","message_id":"<away>","stream_id":"<c>","serial":8}
        B< {"event":"sockudo:resume_success","data":"{\"failed\":[],\"recovered\":[{\"source\":\"hot\",\"replayed\":3,\"position\":{\"stream_id\":\"<c>\",\"serial\":8,\"last_message_id\":\"<away>\"},\"channel\":\"private-c\"}]}","message_id":"<>"}
        B> {"event":"pusher:resume","data":"{\"channel_positions\": {\"private-c\": {\"serial\": 7}}}"}
        B< {"event":"e","channel":"private-c","data":"away 2","message_id":"<away>","stream_id":"<c>","serial":8}
        B< {"event":"sockudo:resume_success","data":"{\"recovered\":[{\"source\":\"hot\",\"position\":{\"last_message_id\":\"<away>\",\"stream_id\":\"<c>\",\"serial\":8},\"channel\":\"private-c\",\"replayed\":1}],\"failed\":[]}","message_id":"<>"}
        B> {"event":"sockudo:resume","data":"{\"channel_serials\": {\"private-c\": 7}}"}
        B< {"event":"e","channel":"private-c","data":"away 2","message_id":"<away>","stream_id":"<c>","serial":8}
        B< {"event":"sockudo:resume_success","data":"{\"failed\":[],\"recovered\":[{\"replayed\":1,\"channel\":\"private-c\",\"position\":{\"stream_id\":\"<c>\",\"last_message_id\":\"<away>\",\"serial\":8},\"source\":\"hot\"}]}","message_id":"<>"}
        V> {"event":"pusher:subscribe","data":{"channel":"private-c","auth":"local-key:f8d83b1ed34db183642f8d1c5467ad300841932cecf9fa5670feb276c4acb592"}}
        V< {"event":"pusher_internal:subscription_succeeded","channel":"private-c","data":"{}"}
        V> {"event":"pusher:resume","data":"{\"channel_positions\": {\"private-c\": {\"serial\": 7, \"stream_id\": \"<c>\"}}}"}
        V< {"event":"e","channel":"private-c","data":"away 2"}
        V< {"event":"pusher:resume_success","data":"{\"failed\":[],\"recovered\":[{\"channel\":\"private-c\",\"position\":{\"last_message_id\":\"<away>\",\"stream_id\":\"<c>\",\"serial\":8},\"replayed\":1,\"source\":\"hot\"}]}"}
        V  -- drops
        B> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"private-c\": {\"serial\": 1, \"stream_id\": \"11111111-1111-4111-8111-111111111111\"}}}"}
        B< {"event":"sockudo:resume_failed","channel":"private-c","data":"{\"expected_stream_id\":\"11111111-1111-4111-8111-111111111111\",\"current_stream_id\":\"<c>\",\"oldest_available_serial\":null,\"newest_available_serial\":null,\"reason\":\"stream_id_mismatch\",\"code\":\"stream_reset\"}","message_id":"<>"}
        B< {"event":"sockudo:resume_success","data":"{\"failed\":[{\"expected_stream_id\":\"11111111-1111-4111-8111-111111111111\",\"current_stream_id\":\"<c>\",\"newest_available_serial\":null,\"oldest_available_serial\":null,\"code\":\"stream_reset\",\"reason\":\"stream_id_mismatch\",\"channel\":\"private-c\"}],\"recovered\":[]}","message_id":"<>"}
        B> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"private-c\": {\"serial\": 500, \"stream_id\": \"<c>\"}}}"}
        B< {"event":"sockudo:resume_failed","channel":"private-c","data":"{\"code\":\"continuity_unverifiable\",\"newest_available_serial\":8,\"oldest_available_serial\":1,\"current_stream_id\":\"<c>\",\"expected_stream_id\":\"<c>\",\"reason\":\"position_ahead_of_durable_stream\"}","message_id":"<>"}
        B< {"event":"sockudo:resume_success","data":"{\"failed\":[{\"current_stream_id\":\"<c>\",\"oldest_available_serial\":1,\"newest_available_serial\":8,\"reason\":\"position_ahead_of_durable_stream\",\"channel\":\"private-c\",\"code\":\"continuity_unverifiable\",\"expected_stream_id\":\"<c>\"}],\"recovered\":[]}","message_id":"<>"}
        B> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"never\": {\"serial\": 3, \"stream_id\": \"<c>\"}}}"}
        B< {"event":"sockudo:resume_failed","channel":"never","data":"{\"newest_available_serial\":null,\"oldest_available_serial\":null,\"expected_stream_id\":\"<c>\",\"current_stream_id\":\"<never>\",\"code\":\"stream_reset\",\"reason\":\"durable_stream_id_mismatch\"}","message_id":"<>"}
        B< {"event":"sockudo:resume_success","data":"{\"failed\":[{\"newest_available_serial\":null,\"reason\":\"durable_stream_id_mismatch\",\"current_stream_id\":\"<never>\",\"code\":\"stream_reset\",\"oldest_available_serial\":null,\"channel\":\"never\",\"expected_stream_id\":\"<c>\"}],\"recovered\":[]}","message_id":"<>"}
        B> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"presence-r\": {\"serial\": 0}}}"}
        B< {"event":"e","channel":"presence-r","data":"x","message_id":"<x>","stream_id":"<r>","serial":1}
        B< {"event":"sockudo:resume_success","data":"{\"recovered\":[{\"replayed\":1,\"position\":{\"stream_id\":\"<r>\",\"serial\":1,\"last_message_id\":\"<x>\"},\"channel\":\"presence-r\",\"source\":\"hot\"}],\"failed\":[]}","message_id":"<>"}
        B> {"event":"pusher:subscribe","data":{"channel":"prices"}}
        B< {"event":"sockudo_internal:subscription_succeeded","channel":"prices","data":"{\"attach_serial\":3}","message_id":"<>","stream_id":"<s>","serial":3}
        B> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"private-c\": {\"serial\": 7, \"stream_id\": \"<c>\"}, \"prices\": {\"serial\": 2, \"stream_id\": \"<s>\"}, \"never\": {\"serial\": 1}}}"}
        B< {"event":"sockudo:resume_failed","channel":"never","data":"{\"expected_stream_id\":null,\"reason\":\"durable_stream_id_mismatch\",\"newest_available_serial\":null,\"oldest_available_serial\":null,\"current_stream_id\":\"<never>\",\"code\":\"stream_reset\"}","message_id":"<>"}
        B< {"event":"e","channel":"prices","data":"3","message_id":"<three>","stream_id":"<s>","serial":3}
        B< {"event":"e","channel":"private-c","data":"away 2","message_id":"<away>","stream_id":"<c>","serial":8}
        B< {"event":"sockudo:resume_success","data":"{\"recovered\":[{\"position\":{\"serial\":3,\"last_message_id\":\"<three>\",\"stream_id\":\"<s>\"},\"replayed\":1,\"channel\":\"prices\",\"source\":\"hot\"},{\"replayed\":1,\"position\":{\"last_message_id\":\"<away>\",\"serial\":8,\"stream_id\":\"<c>\"},\"source\":\"hot\",\"channel\":\"private-c\"}],\"failed\":[{\"newest_available_serial\":null,\"channel\":\"never\",\"current_stream_id\":\"<never>\",\"code\":\"stream_reset\",\"oldest_available_serial\":null,\"reason\":\"durable_stream_id_mismatch\",\"expected_stream_id\":null}]}","message_id":"<>"}
        B> {"event":"sockudo:resume","data":"{\"channel_positions\": {}}"}
        B< {"event":"sockudo:error","data":{"code":4302,"message":"No channel recovery positions provided"},"message_id":"<>"}
        B> {"event":"sockudo:resume","data":"{}"}
        B< {"event":"sockudo:error","data":{"code":4000,"message":"Invalid message format: Missing channel_positions or channel_serials in resume data"},"message_id":"<>"}
        B> {"event":"sockudo:resume","data":"not json"}
        B< {"event":"sockudo:error","data":{"message":"Invalid message format: Invalid resume data JSON<rest>","code":4000},"message_id":"<>"}
        B> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"private-c\": {\"serial\": \"1\"}}}"}
        B< {"event":"sockudo:error","data":{"message":"Invalid message format: Invalid resume data JSON<rest>","code":4000},"message_id":"<>"}
        C> GET /app/local-key?protocol=2
        C< {"event":"sockudo:connection_established","data":"{\"activity_timeout\":120,\"socket_id\":\"6550522564.627883790\"}","message_id":"<>"}
        H> {"name":"e","data":"while away","channel":"prices"}
        B< {"event":"e","channel":"prices","data":"while away","message_id":"<gone>","stream_id":"<s>","serial":4}
        C> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"prices\": {\"serial\": 3, \"stream_id\": \"<s>\"}}}"}
        C< {"event":"e","channel":"prices","data":"while away","message_id":"<gone>","stream_id":"<s>","serial":4}
        C< {"event":"sockudo:resume_success","data":"{\"failed\":[],\"recovered\":[{\"source\":\"hot\",\"position\":{\"stream_id\":\"<s>\",\"serial\":4,\"last_message_id\":\"<gone>\"},\"channel\":\"prices\",\"replayed\":1}]}","message_id":"<>"}
        H> {"name":"e","data":"in between","channel":"prices"}
        B< {"event":"e","channel":"prices","data":"in between","message_id":"<>","stream_id":"<s>","serial":5}
        C> {"event":"pusher:subscribe","data":{"channel":"prices"}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"prices","data":"{\"attach_serial\":5}","message_id":"<>","stream_id":"<s>","serial":5}
        H> {"name":"even","data":"0","channel":"rw"}
        H> {"name":"odd","data":"1","channel":"rw"}
        H> {"name":"even","data":"2","channel":"rw"}
        H> {"name":"odd","data":"3","channel":"rw"}
        H> {"name":"even","data":"4","channel":"rw"}
        C> GET /app/local-key?protocol=2
        C< {"event":"sockudo:connection_established","data":"{\"socket_id\":\"5194074087.1658502391\",\"activity_timeout\":120}","message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"rw","rewind":2}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"rw","data":"{\"attach_serial\":5}","message_id":"<>","stream_id":"<rw>","serial":5}
        C< {"event":"odd","channel":"rw","data":"3","message_id":"<m3>","stream_id":"<rw>","serial":4}
        C< {"event":"even","channel":"rw","data":"4","message_id":"<m4>","stream_id":"<rw>","serial":5}
        C< {"event":"sockudo:rewind_complete","channel":"rw","data":{"historical_count":2,"truncated_by_limit":true,"truncated_by_retention":false,"complete":false,"live_count":0},"message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"rw","rewind":{"seconds":60}}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"rw","data":"{\"attach_serial\":5}","message_id":"<>","stream_id":"<rw>","serial":5}
        C< {"event":"even","channel":"rw","data":"0","message_id":"<>","stream_id":"<rw>","serial":1}
        C< {"event":"odd","channel":"rw","data":"1","message_id":"<m1>","stream_id":"<rw>","serial":2}
        C< {"event":"even","channel":"rw","data":"2","message_id":"<m2>","stream_id":"<rw>","serial":3}
        C< {"event":"odd","channel":"rw","data":"3","message_id":"<m3>","stream_id":"<rw>","serial":4}
        C< {"event":"even","channel":"rw","data":"4","message_id":"<m4>","stream_id":"<rw>","serial":5}
        C< {"event":"sockudo:rewind_complete","channel":"rw","data":{"truncated_by_limit":true,"historical_count":5,"truncated_by_retention":true,"complete":false,"live_count":0},"message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"rw","rewind":5,"filter":{"events":["odd"]}}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"rw","data":"{\"attach_serial\":5}","message_id":"<>","stream_id":"<rw>","serial":5}
        C< {"event":"odd","channel":"rw","data":"1","message_id":"<m1>","stream_id":"<rw>","serial":2}
        C< {"event":"odd","channel":"rw","data":"3","message_id":"<m3>","stream_id":"<rw>","serial":4}
        C< {"event":"sockudo:rewind_complete","channel":"rw","data":{"truncated_by_limit":false,"historical_count":2,"complete":true,"truncated_by_retention":false,"live_count":0},"message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"rw-empty","rewind":2}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"rw-empty","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<>","serial":0}
        C< {"event":"sockudo:rewind_complete","channel":"rw-empty","data":{"historical_count":0,"live_count":0,"complete":true,"truncated_by_retention":false,"truncated_by_limit":false},"message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"rw","rewind":0}}
        C< {"event":"sockudo:error","data":{"code":4000,"message":"Invalid message format: Invalid rewind option in subscription data"},"message_id":"<>"}
        C> {"event":"sockudo:channel_history","data":"{\"channel\": \"rw\", \"limit\": 1}"}
        C< {"event":"sockudo:channel_history","channel":"rw","data":{"stream_state":{"last_transition_at_ms":null,"durable_state":"healthy","node_id":null,"observed_source":"in_memory","reason":null,"recovery_allowed":true,"authoritative_source":"in_memory","stream_id":"<rw>","reset_required":false},"direction":"newest_first","limit":1,"next_cursor":"<>","bounds":{"attach_serial":null,"end_serial":null,"end_time_ms":null,"start_serial":null,"start_time_ms":null,"until_attach":false},"items":[{"stream_id":"<rw>","message_id":"<m4>","published_at_ms":"<>","operation_kind":"append","serial":5,"payload_size_bytes":"<>","event_name":"even","message":{"stream_id":"<rw>","channel":"rw","serial":5,"event":"even","data":"4","message_id":"<m4>"}}],"has_more":true,"continuity":{"retained_messages":5,"oldest_available_serial":1,"retained_bytes":"<>","truncated_by_retention":false,"newest_available_published_at_ms":"<>","newest_available_serial":5,"stream_id":"<rw>","complete":false,"oldest_available_published_at_ms":"<>"}},"message_id":"<>"}
        C> {"event":"sockudo:channel_history","data":"{\"channel\": \"rw\", \"direction\": \"oldest_first\", \"start_serial\": 2, \"end_serial\": 5, \"limit\": 2}"}
        C< {"event":"sockudo:channel_history","channel":"rw","data":{"items":[{"message":{"data":"1","stream_id":"<rw>","event":"odd","channel":"rw","message_id":"<m1>","serial":2},"event_name":"odd","message_id":"<m1>","published_at_ms":"<>","operation_kind":"append","stream_id":"<rw>","serial":2,"payload_size_bytes":"<>"},{"stream_id":"<rw>","published_at_ms":"<>","message_id":"<m2>","serial":3,"event_name":"even","message":{"message_id":"<m2>","serial":3,"data":"2","channel":"rw","event":"even","stream_id":"<rw>"},"payload_size_bytes":"<>","operation_kind":"append"}],"limit":2,"direction":"oldest_first","has_more":true,"continuity":{"oldest_available_serial":1,"oldest_available_published_at_ms":"<>","retained_messages":5,"retained_bytes":"<>","newest_available_published_at_ms":"<>","newest_available_serial":5,"stream_id":"<rw>","truncated_by_retention":false,"complete":false},"bounds":{"end_serial":5,"start_time_ms":null,"start_serial":2,"end_time_ms":null,"until_attach":false,"attach_serial":null},"next_cursor":"<cursor>","stream_state":{"reset_required":false,"observed_source":"in_memory","authoritative_source":"in_memory","reason":null,"node_id":null,"stream_id":"<rw>","durable_state":"healthy","last_transition_at_ms":null,"recovery_allowed":true}},"message_id":"<>"}
        C> {"event":"sockudo:channel_history","data":"{\"channel\": \"rw\", \"direction\": \"oldest_first\", \"start_serial\": 2, \"end_serial\": 5, \"limit\": 2, \"cursor\": \"<cursor>\"}"}
        C< {"event":"sockudo:channel_history","channel":"rw","data":{"continuity":{"newest_available_published_at_ms":"<>","retained_bytes":"<>","truncated_by_retention":false,"complete":true,"retained_messages":5,"stream_id":"<rw>","oldest_available_serial":1,"newest_available_serial":5,"oldest_available_published_at_ms":"<>"},"items":[{"message_id":"<m3>","published_at_ms":"<>","stream_id":"<rw>","serial":4,"operation_kind":"append","payload_size_bytes":"<>","event_name":"odd","message":{"message_id":"<m3>","data":"3","channel":"rw","serial":4,"event":"odd","stream_id":"<rw>"}},{"event_name":"even","payload_size_bytes":"<>","message":{"channel":"rw","data":"4","stream_id":"<rw>","serial":5,"event":"even","message_id":"<m4>"},"message_id":"<m4>","published_at_ms":"<>","operation_kind":"append","stream_id":"<rw>","serial":5}],"has_more":false,"direction":"oldest_first","limit":2,"next_cursor":null,"bounds":{"attach_serial":null,"end_serial":5,"start_time_ms":null,"end_time_ms":null,"until_attach":false,"start_serial":2},"stream_state":{"reason":null,"stream_id":"<rw>","authoritative_source":"in_memory","observed_source":"in_memory","reset_required":false,"node_id":null,"last_transition_at_ms":null,"recovery_allowed":true,"durable_state":"healthy"}},"message_id":"<>"}
        C> {"event":"sockudo:channel_history","data":{"channel":"rw"}}
        C< {"event":"sockudo:error","data":{"message":"Invalid message format: Missing data in channel_history message","code":4000},"message_id":"<>"}
        C> {"event":"sockudo:channel_history","data":"{\"channel\": \"rw\", \"until_attach\": true}"}
        C< {"event":"sockudo:error","data":{"message":"Invalid message format: No attach_serial is recorded for channel 'rw'","code":4000},"message_id":"<>"}
        C> {"event":"sockudo:channel_history","data":"{\"channel\": \"rwbig\"}"}
        C< {"event":"sockudo:error","data":{"code":4301,"message":"Client event error: Socket 5194074087.1658502391 is not subscribed to channel rwbig"},"message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"fl","filter":{"events":["yes"]}}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"fl","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<fl>","serial":0}
        H> {"name":"no","data":"x","channel":"fl"}
        H> {"name":"yes","data":"x","channel":"fl"}
        C< {"event":"yes","channel":"fl","data":"x","message_id":"<yes>","stream_id":"<fl>","serial":2}
        H> {"name":"no","data":"x","channel":"fl"}
        C> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"fl\": {\"serial\": 0}}}"}
        C< {"event":"yes","channel":"fl","data":"x","message_id":"<yes>","stream_id":"<fl>","serial":2}
        C< {"event":"sockudo:resume_success","data":"{\"recovered\":[{\"position\":{\"last_message_id\":\"<>\",\"serial\":3,\"stream_id\":\"<fl>\"},\"source\":\"hot\",\"replayed\":1,\"channel\":\"fl\"}],\"failed\":[]}","message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"tg","filter":{"key":"k","cmp":"eq","val":"v"}}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"tg","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<tg>","serial":0}
        H> {"name":"e","data":"x","channel":"tg","tags":{"k":"w"}}
        H> {"name":"e","data":"x","channel":"tg","tags":{"k":"v"}}
        C< {"event":"e","channel":"tg","data":"x","tags":{"k":"v"},"message_id":"<>","stream_id":"<tg>","serial":2}
        C> {"event":"pusher:subscribe","data":{"channel":"fl2","filter":{"key":"k"}}}
        C< {"event":"sockudo:error","data":{"message":"Invalid message format: Invalid tags filter: Leaf node requires a comparison operator","code":4000},"message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"rw"}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"rw","data":"{\"attach_serial\":5}","message_id":"<>","stream_id":"<rw>","serial":5}
        H  -- resets rw
        H> {"name":"e","data":"after reset","channel":"rw"}
        C< {"event":"e","channel":"rw","data":"after reset","message_id":"<>","stream_id":"<reset>","serial":1}
        C  -- drops
        X> GET /app/local-key?protocol=2
        X< {"event":"sockudo:connection_established","data":"{\"socket_id\":\"153248871.4772912076\",\"activity_timeout\":120}","message_id":"<>"}
        X> {"event":"sockudo:signin","data":{"user_data":"{\"id\":\"u7\"}","auth":"local-key:d4d20dd0cc92b0aaf08b96026a6435b3b609d1590102ec644e2cffe3a8e1de2b"}}
        X< {"event":"sockudo:signin_success","data":{"user_data":"{\"id\":\"u7\"}"},"message_id":"<>"}
        X  -- drops
        H> {"name":"e","data":"i1","channel":"prices","idempotency_key":"k1"}
        H> {"name":"e","data":"i1","channel":"prices","idempotency_key":"k1"}
        B< {"event":"e","channel":"prices","data":"i1","message_id":"<>","stream_id":"<s>","serial":6}
        H> {"name":"e","data":"i2","channel":"other","idempotency_key":"k1"}
        H> /batch_events {"batch":[{"name":"e","channel":"prices","data":"b1","idempotency_key":"b1"},{"name":"e","channel":"prices","data":"b2","idempotency_key":"b2"}]}
        H> /batch_events {"batch":[{"name":"e","channel":"prices","data":"b1","idempotency_key":"b1"},{"name":"e","channel":"prices","data":"b3","idempotency_key":"b3"}]}
        B< {"event":"e","channel":"prices","data":"b1","message_id":"<>","stream_id":"<s>","serial":7}
        B< {"event":"e","channel":"prices","data":"b2","message_id":"<>","stream_id":"<s>","serial":8}
        B< {"event":"e","channel":"prices","data":"b3","message_id":"<>","stream_id":"<s>","serial":9}
        H> {"name":"e","data":"f","channel":"bad name","idempotency_key":"f1"}
        H< 400 {"error":"Channel name contains invalid characters: 'bad name' (invalid chars: [' '])","code":"invalid_input","status":400}
        H> {"name":"e","data":"f","channel":"prices","idempotency_key":"f1"}
        H< 503 {"error":"Idempotent publish is still in progress","status":503,"code":"backpressure"}
        H> {"name":"e","data":"f","channel":"prices","idempotency_key":"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"}
        H< 400 {"code":"invalid_input","error":"Idempotency key exceeds maximum length of 128 characters","status":400}
        H  -- stops
        B< {"event":"pusher:error","data":{"message":"Server shutting down","code":4200}}
        B< [close 4200 Server shutting down]
        H  -- starts again
        A> GET /app/local-key?protocol=2
        A< {"event":"sockudo:connection_established","data":"{\"socket_id\":\"1711012587.4375805742\",\"activity_timeout\":120}","message_id":"<>"}
        A> {"event":"pusher:subscribe","data":{"channel":"prices"}}
        A< {"event":"sockudo_internal:subscription_succeeded","channel":"prices","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<new>","serial":0}
        A> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"prices\": {\"serial\": 3, \"stream_id\": \"<s>\"}}}"}
        A< {"event":"sockudo:resume_failed","channel":"prices","data":"{\"current_stream_id\":\"<new>\",\"code\":\"stream_reset\",\"newest_available_serial\":null,\"expected_stream_id\":\"<s>\",\"oldest_available_serial\":null,\"reason\":\"stream_id_mismatch\"}","message_id":"<>"}
        A< {"event":"sockudo:resume_success","data":"{\"recovered\":[],\"failed\":[{\"current_stream_id\":\"<new>\",\"newest_available_serial\":null,\"oldest_available_serial\":null,\"reason\":\"stream_id_mismatch\",\"code\":\"stream_reset\",\"channel\":\"prices\",\"expected_stream_id\":\"<s>\"}]}","message_id":"<>"}
        """#

    private static let withoutReplays = #"""
        A> GET /app/local-key?protocol=2
        A< {"event":"sockudo:connection_established","data":"{\"activity_timeout\":120,\"socket_id\":\"3621451807.1421654122\"}","message_id":"<>"}
        A> {"event":"pusher:subscribe","data":{"channel":"prices"}}
        A< {"event":"sockudo_internal:subscription_succeeded","channel":"prices","data":"{\"attach_serial\":0}","message_id":"<>"}
        H> {"name":"e","data":"x","channel":"prices"}
        A< {"event":"e","channel":"prices","data":"x","message_id":"<>","stream_id":"<s>","serial":1}
        A> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"prices\": {\"serial\": 0}}}"}
        A< {"event":"sockudo:error","data":{"code":4301,"message":"Connection recovery is not enabled"},"message_id":"<>"}
        """#

    private static let withoutHistory = #"""
        A> GET /app/local-key?protocol=2
        A< {"event":"sockudo:connection_established","data":"{\"socket_id\":\"3980952631.1783444191\",\"activity_timeout\":120}","message_id":"<>"}
        A> {"event":"pusher:subscribe","data":{"channel":"prices"}}
        A< {"event":"sockudo_internal:subscription_succeeded","channel":"prices","data":"{}","message_id":"<>","stream_id":"<s>","serial":0}
        A  -- drops
        H> {"name":"e","data":"1","channel":"prices"}
        H> {"name":"e","data":"2","channel":"prices"}
        -- 4
        B> GET /app/local-key?protocol=2
        B< {"event":"sockudo:connection_established","data":"{\"activity_timeout\":120,\"socket_id\":\"4995340226.4145024039\"}","message_id":"<>"}
        B> {"event":"pusher:subscribe","data":{"channel":"prices"}}
        B< {"event":"sockudo_internal:subscription_succeeded","channel":"prices","data":"{}","message_id":"<>","stream_id":"<s>","serial":2}
        B> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"prices\": {\"serial\": 0, \"stream_id\": \"<s>\"}}}"}
        B< {"event":"sockudo:resume_failed","channel":"prices","data":"{\"expected_stream_id\":\"<s>\",\"current_stream_id\":null,\"oldest_available_serial\":null,\"reason\":\"hot_replay_expired_and_durable_history_disabled\",\"newest_available_serial\":null,\"code\":\"position_expired\"}","message_id":"<>"}
        B< {"event":"sockudo:resume_success","data":"{\"failed\":[{\"reason\":\"hot_replay_expired_and_durable_history_disabled\",\"channel\":\"prices\",\"expected_stream_id\":\"<s>\",\"code\":\"position_expired\",\"current_stream_id\":null,\"oldest_available_serial\":null,\"newest_available_serial\":null}],\"recovered\":[]}","message_id":"<>"}
        B> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"prices\": {\"serial\": 2, \"stream_id\": \"<s>\"}}}"}
        B< {"event":"sockudo:resume_success","data":"{\"recovered\":[{\"replayed\":0,\"source\":\"hot\",\"position\":null,\"channel\":\"prices\"}],\"failed\":[]}","message_id":"<>"}
        B> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"prices\": {\"serial\": 9, \"stream_id\": \"<s>\"}}}"}
        B< {"event":"sockudo:resume_failed","channel":"prices","data":"{\"newest_available_serial\":null,\"expected_stream_id\":\"<s>\",\"current_stream_id\":null,\"oldest_available_serial\":null,\"code\":\"position_expired\",\"reason\":\"hot_replay_expired_and_durable_history_disabled\"}","message_id":"<>"}
        B< {"event":"sockudo:resume_success","data":"{\"recovered\":[],\"failed\":[{\"channel\":\"prices\",\"reason\":\"hot_replay_expired_and_durable_history_disabled\",\"oldest_available_serial\":null,\"expected_stream_id\":\"<s>\",\"code\":\"position_expired\",\"newest_available_serial\":null,\"current_stream_id\":null}]}","message_id":"<>"}
        B> {"event":"pusher:subscribe","data":{"channel":"x","rewind":3}}
        B< {"event":"sockudo:error","data":{"message":"Channel error: Channel rewind is disabled by policy for channel 'x'","code":4300},"message_id":"<>"}
        B> {"event":"sockudo:channel_history","data":"{\"channel\": \"prices\"}"}
        B< {"event":"sockudo:error","data":{"message":"Channel error: Durable history is disabled by policy for channel 'prices'","code":4300},"message_id":"<>"}
        """#
}

/// Plays a recording's lines against a server.
private struct Player {
    var rig: ServerRig
    /// What each connection got, and the backend's answers, as far as no line has told it.
    var came: [String: [String]] = [:]
    var comparison = FrameComparison()
    /// The connections' letters by their numbers; a letter may have several, one after the other.
    var letters: [String] = []

    private func id(_ letter: String) -> ServerRig.ID { ServerRig.ID((letters.lastIndex(of: letter) ?? -2) + 1) }

    mutating func play(_ line: String) {
        let (who, text) = (String(line.prefix(1)), String(line.dropFirst(3)))
        switch (line.dropFirst().first, text) {
        case ("<", _):
            let sent = came[who]?.first ?? "nothing"
            came[who] = came[who].map { Array($0.dropFirst()) }
            let isSame = comparison.isSame(text, sent)
            #expect(isSame, "recorded: \(line)\nsent: \(sent)")
        case (">", _) where who == "H": post(text)
        case (">", _) where text.hasPrefix("GET "):
            handle(.closed(id(who)))
            letters.append(who)
            handle(.opened(id(who), path: String(text.dropFirst(4))))
        case (">", _): handle(.received(comparison.filled(text), from: id(who)))
        case (_, "-- drops"): handle(.closed(id(who)))
        case (_, "-- stops"):
            rig.shutdown()
            collect()
        case (_, "-- starts again"): rig.machine.loseStreams()
        case (_, "-- resets rw"): rig.machine.loseStreams(of: "rw")
        default: rig.now = rig.now + .seconds(Int(text) ?? 0)
        }
    }

    private mutating func handle(_ input: ServerMachine.Input) {
        rig.handle(input)
        collect()
    }

    private mutating func post(_ text: String) {
        let body = String(text.drop { $0 != "{" })
        let path = body == text ? "events" : "batch_events"
        let response = rig.respond(to: .signed("POST", "/apps/1/\(path)", body: body))
        if response.status != 200 { came["H", default: []].append("\(response.status) \(response.text)") }
        collect()
    }

    private mutating func collect() {
        for effect in rig.effects {
            switch effect {
            case .send(let text, let id): came[letters[id.number - 1], default: []].append(text)
            case .close(let id, let code, let reason):
                came[letters[id.number - 1], default: []].append(code == 1006 ? "[eof]" : "[close \(code) \(reason)]")
            default: break
            }
        }
    }
}
