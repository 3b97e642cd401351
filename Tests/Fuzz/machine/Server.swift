extension World {
    /// The frames that a server may send about a channel; the percent sign stands for the channel's name.
    private static let frames = [
        #"{"event":"pusher_internal:subscription_succeeded","channel":"%","data":"{}"}"#,
        #"{"event":"pusher_internal:subscription_succeeded","channel":"%","data":{"presence":{"ids":["me","b"],"hash":{"me":{},"c":1}}}}"#,
        #"{"event":"pusher_internal:subscription_succeeded","channel":"%","data":{"presence":{"ids":["d"]}}}"#,
        #"{"event":"pusher:subscription_error","channel":"%","data":{"type":"AuthError","error":"no","status":401}}"#,
        #"{"event":"pusher_internal:subscription_error","channel":"%","data":{"error":"later","status":503}}"#,
        #"{"event":"pusher_internal:subscription_count","channel":"%","data":{"subscription_count":3}}"#,
        #"{"event":"pusher_internal:member_added","channel":"%","data":{"user_id":"b","user_info":{}}}"#,
        #"{"event":"pusher_internal:member_removed","channel":"%","data":{"user_id":"b"}}"#,
        #"{"event":"pusher:cache_miss","channel":"%"}"#,
        #"{"event":"greet","channel":"%","data":"hi"}"#,
        #"{"event":"client-number","channel":"%","data":1,"user_id":"b"}"#,
        #"{"event":"pusher:error","channel":"%","data":{"code":4009,"message":"not authorized"}}"#,
        #"{"event":"pusher:error","data":{"code":4301,"message":"too fast"}}"#,
        #"{"event":"pusher:error","data":{"code":4201,"message":"restarting"}}"#,
        #"{"event":"pusher:ping","data":""}"#,
        #"{"event":"pusher:pong"}"#,
        #"{"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"me\"}"}}"#,
        #"{"event":"pusher_internal:watchlist_events","data":{"events":[{"name":"online","user_ids":["b"]}]}}"#,
        #"{"event":"online","data":{"user_ids":["b"]}}"#,
        #"{"event":"pusher:new","channel":"%","data":null}"#,
        #"{"event":"pusher:connection_established","data":{"socket_id":"9.9"}}"#,
        #"{"event":"pusher:connection_established","data":{"activity_timeout":1}}"#,
    ]

    /// The frames of Sockudo's protocol V2; the number sign stands for a serial, and the dollar sign for the name of a stream.
    private static let sockudoFrames = [
        #"{"event":"sockudo_internal:subscription_succeeded","channel":"%","data":{"attach_serial":#},"stream_id":"$","serial":#}"#,
        #"{"event":"sockudo_internal:subscription_succeeded","channel":"%","data":"{}","stream_id":"$","serial":#}"#,
        #"{"event":"greet","channel":"%","data":"hi","stream_id":"$","serial":#}"#,
        #"{"event":"client-number","channel":"%","data":1,"stream_id":"$","serial":#}"#,
        #"{"event":"sockudo:resume_success","data":{"recovered":[{"channel":"%","position":{"stream_id":"$","serial":#}}]}}"#,
        #"{"event":"sockudo:resume_success","data":{"failed":[{"channel":"%","code":"position_expired"}]}}"#,
        #"{"event":"sockudo:resume_failed","channel":"%","data":{"code":"stream_reset","current_stream_id":"$"}}"#,
        #"{"event":"sockudo:channel_history","channel":"%","data":{"items":[{"message":{"event":"greet","channel":"%","stream_id":"$","serial":#}}],"has_more":false}}"#,
        #"{"event":"sockudo:channel_history","channel":"%","data":{"items":[],"has_more":true,"next_cursor":"c"}}"#,
        #"{"event":"sockudo:rewind_complete","channel":"%","data":"{}"}"#,
        #"{"event":"sockudo:error","data":{"code":4300,"message":"Channel error: Channel rewind is disabled"}}"#,
    ]

    mutating func serverSays(_ choice: Int, of channel: Name, on attempt: ConnectionAttempt) {
        guard isSockudo, choice >= Self.frames.count else {
            return receive(Self.frames[choice % Self.frames.count].replacing(#""%""#, with: channel.text.quotedJSON), on: attempt)
        }
        let (serial, kind) = (choice - Self.frames.count).quotientAndRemainder(dividingBy: Self.sockudoFrames.count)
        let frame = Self.sockudoFrames[kind].replacing("#", with: "\(serial)").replacing("$", with: serial % 5 == 4 ? "t" : "s")
        receive(frame.replacing(#""%""#, with: channel.text.quotedJSON), on: attempt)
    }

    /// The place that a good server names.
    private static let head = #","stream_id":"s","serial":30"#

    private var isSockudo: Bool { machine.configuration.protocol == .sockudo }

    mutating func establish(_ attempt: ConnectionAttempt) {
        open(attempt)
        receive(
            #"{"event":"pusher:connection_established","data":{"socket_id":"1.\#(attempt.number)","activity_timeout":120}}"#,
            on: attempt)
    }

    /// Sends a good server's reply to a message, if there is one.
    mutating func reply(_ message: ClientMessage) {
        let frame: String? =
            switch message {
            case .ping: #"{"event":"pusher:pong"}"#
            case .subscribe(let channel, _, _, _):
                #"{"event":"pusher_internal:subscription_succeeded","channel":\#(channel.quotedJSON),"data":"{}"\#(isSockudo ? Self.head : "")}"#
            case .signIn: #"{"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"me\"}"}}"#
            case .resume(let positions):
                #"{"event":"sockudo:resume_success","data":{"recovered":[\#(positions.keys.map(\.replayed).joined(separator: ","))]}}"#
            case .history(let channel, _, _):
                #"{"event":"sockudo:channel_history","channel":\#(channel.quotedJSON),"data":{"items":[],"has_more":false}}"#
            case .pong, .unsubscribe, .clientEvent: nil
            }
        if let frame { receive(frame, on: watch.attempt) }
    }
}

extension Name {
    fileprivate var replayed: String { #"{"channel":\#(text.quotedJSON),"position":null}"# }
}
