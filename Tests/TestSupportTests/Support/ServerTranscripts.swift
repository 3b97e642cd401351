/// The behavior of real servers, in the form of the profiles' replies: the messages sent to each connection, and the closes. A
/// dash means nothing.
enum ServerTranscripts {
    /// Laravel Reverb.
    static let reverb = #"""
        unknown key
            3: {"event":"pusher:error","data":"{\"code\":4001,\"message\":\"Application does not exist\"}"}
        bad signature
            1: {"event":"pusher:error","data":"{\"code\":4009,\"message\":\"Connection is unauthorized\"}"}
        client event with a value
            2: {"event":"client-a","channel":"private-a","data":{"x": 1}}
        client event with a text
            1: {"event":"pusher:error","data":"{\"code\":4200,\"message\":\"Invalid message format\"}"}
        two minutes of a client that only listens
            –
        joins without user_info
            1: {"event":"pusher:error","data":"{\"code\":4200,\"message\":\"Invalid message format\"}"}
        the next one then
            2: {"event":"pusher:error","data":"{\"code\":4200,\"message\":\"Invalid message format\"}"}
        a user's second connection joins
            2: {"event":"pusher_internal:subscription_succeeded","channel":"presence-a","data":"{\"presence\":{\"count\":1,\"hash\":{\"ann\":{}},\"ids\":[\"ann\"]}}"}
        and leaves
            –
        ping
            1: {"event":"pusher:pong"}
        cache channels
            1: {"event":"pusher:cache_miss","channel":"cache-a"}
            1: {"event":"pusher:cache_miss","channel":"private-cache-a"}
        no JSON
            1: {"event":"pusher:error","data":"{\"code\":4200,\"message\":\"Invalid message format\"}"}
        sign-in
            1: {"event":"pusher:error","data":"{\"code\":4200,\"message\":\"Invalid message format\"}"}
        body_md5 of nothing
            401
        batch
            200
        publishes with another key
            200
        and another secret
            401
        """#

    /// pusher-fake 6.1.0.
    static let pusherFake = #"""
        unknown key
            welcome
        bad signature
            1: {"event":"pusher_internal:subscription_error","channel":"private-a","data":"{}"}
        client event with a value
            2: {"event":"client-a","channel":"private-a","data":"{\"x\": 1}"}
        client event with a text
            2: {"event":"client-a","channel":"private-a","data":"text"}
        two minutes of a client that only listens
            –
        joins without user_info
            1: {"event":"pusher_internal:subscription_succeeded","channel":"presence-a","data":"{\"presence\":{\"count\":1,\"hash\":{\"ann\":null}}}"}
        the next one then
            2: joins
        a user's second connection joins
            2: {"event":"pusher_internal:subscription_succeeded","channel":"presence-a","data":"{\"presence\":{\"count\":2,\"hash\":{\"ann\":{}}}}"}
            1: {"event":"pusher_internal:member_added","channel":"presence-a","data":"{\"user_id\":\"ann\",\"user_info\":{}}"}
        and leaves
            1: {"event":"pusher_internal:member_removed","channel":"presence-a","data":"{\"user_id\":\"ann\"}"}
        ping
            1: {"event":"pusher:pong","data":"{}"}
        cache channels
            1: {"event":"pusher:cache_miss","channel":"cache-a","data":"null"}
        no JSON
            1: 1011 The server died
            2: 1011 The server died
        sign-in
            –
        body_md5 of nothing
            200
        batch
            200
        publishes with another key
            200
        and another secret
            200
        """#

    /// ipe.
    static let ipe = #"""
        unknown key
            3: {"event":"pusher:error","data":{"code":4001,"message":"App key another-key not in this cluster"}}
            3: 4001 App key another-key not in this cluster
        bad signature
            1: {"event":"pusher:error","data":{"code":null,"message":"Auth value for subscription to private-a is invalid"}}
        client event with a value
            2: {"event":"client-a","channel":"private-a","data":{"x": 1}}
        client event with a text
            2: {"event":"client-a","channel":"private-a","data":"text"}
        two minutes of a client that only listens
            –
        joins without user_info
            1: {"event":"pusher_internal:subscription_succeeded","channel":"presence-a","data":"{\"presence\":{\"count\":1,\"hash\":{\"ann\":null},\"ids\":[\"ann\"]}}"}
        the next one then
            2: joins
        a user's second connection joins
            2: {"event":"pusher_internal:subscription_succeeded","channel":"presence-a","data":"{\"presence\":{\"count\":1,\"hash\":{\"ann\":{}},\"ids\":[\"ann\"]}}"}
        and leaves
            1: {"event":"pusher_internal:member_removed","channel":"presence-a","data":"{\"user_id\":\"ann\"}"}
        ping
            1: {"event":"pusher:pong"}
        cache channels
            –
        no JSON
            1: {"event":"pusher:error","data":{"code":null,"message":"Invalid JSON"}}
        sign-in
            –
        body_md5 of nothing
            200
        batch
            404
        publishes with another key
            200
        and another secret
            401
        """#

    /// poxa 1.3.
    static let poxa = #"""
        unknown key
            3: {"event":"pusher:error","data":{"code":4001,"message":"App key another-key not in this cluster"}}
            3: 4001 App key another-key not in this cluster
        bad signature
            1: {"event":"pusher:error","data":{"code":null,"message":"Invalid signature: Expected HMAC SHA256 hex digest of 1.2:private-a, but got 00"}}
        client event with a value
            2: {"event":"client-a","channel":"private-a","data":{"x": 1}}
        client event with a text
            2: {"event":"client-a","channel":"private-a","data":"text"}
        two minutes of a client that only listens
            1: 1000 Closed after inactivity
        joins without user_info
            1: {"event":"pusher_internal:subscription_succeeded","channel":"presence-a","data":"{\"presence\":{\"count\":1,\"hash\":{\"ann\":null},\"ids\":[\"ann\"]}}"}
        the next one then
            2: joins
        a user's second connection joins
            2: {"event":"pusher_internal:subscription_succeeded","channel":"presence-a","data":"{\"presence\":{\"count\":1,\"hash\":{\"ann\":{}},\"ids\":[\"ann\"]}}"}
        and leaves
            –
        ping
            1: {"event":"pusher:pong","data":{}}
        cache channels
            –
        no JSON
            1: {"event":"pusher:error","data":{"code":null,"message":"Invalid JSON"}}
        sign-in
            –
        body_md5 of nothing
            200
        batch
            404
        publishes with another key
            200
        and another secret
            401
        """#
}
