/// Frames as real servers send them.
enum Frames {
    static let events = [
        #"{"event":"greet","channel":"room","data":"{\"text\":\"hello\"}"}"#,
        #"{"event":"greet","channel":"room","data":{"text":"hello"}}"#,
        #"{"data":"plain text","channel":"room","event":"greet"}"#,
        #"{"event":"client-typing","channel":"presence-room","data":"{}","user_id":"ann"}"#,
        #"{"event":"greet","channel":null,"data":null,"tags":{"a":[1,2]},"sequence":7}"#,
        #"{"event":"greet"}"#,
        "{\"event\":\"gr\u{FC}\u{DF}e \u{1F642}\",\"channel\":\"room\",\"data\":\"\\ud83d\\ude42\"}",
    ]

    static let controls = [
        #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"123.456\",\"activity_timeout\":120}"}"#,
        #"{"event":"pusher:error","data":{"message":"Over capacity","code":4100}}"#,
        #"{"event":"pusher:error","data":"{\"code\":4009,\"message\":\"Connection is unauthorized\"}"}"#,
        #"{"event":"pusher:ping","data":{}}"#,
        #"{"event":"pusher:pong"}"#,
        #"{"event":"pusher_internal:subscription_succeeded","channel":"room","data":"{}"}"#,
        #"{"event":"pusher_internal:subscription_succeeded","channel":"room","data":""}"#,
        #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-room","data":"{\"presence\":{\"ids\":[\"ann\"],\"hash\":{\"ann\":{\"n\":\"A\"}},\"count\":1}}"}"#,
        #"{"event":"pusher:subscription_error","channel":"private-room","data":{"type":"AuthError","error":"no","status":401}}"#,
        #"{"event":"pusher_internal:subscription_count","channel":"room","data":"{\"subscription_count\":3}"}"#,
        #"{"event":"pusher_internal:member_added","channel":"presence-room","data":"{\"user_id\":\"bob\",\"user_info\":{}}"}"#,
        #"{"event":"pusher_internal:member_removed","channel":"presence-room","data":"{\"user_id\":\"bob\"}"}"#,
        #"{"event":"pusher:cache_miss","channel":"cache-room"}"#,
        #"{"event":"pusher_internal:watchlist_events","data":{"events":[{"name":"online","user_ids":["1"]}]}}"#,
    ]

    static let all = events + controls
}
