import Foundation
import Testing

@testable import PusherChannels

@Suite struct EnvelopeEncoderTests {
    @Test(arguments: [
        (ClientMessage.ping, #"{"event":"pusher:ping","data":{}}"#), (.pong, #"{"event":"pusher:pong","data":{}}"#),
        (
            .subscribe(channel: "c", auth: nil, channelData: nil), #"{"event":"pusher:subscribe","data":{"channel":"c"}}"#
        ),
        (
            .subscribe(channel: "private-c", auth: "k:s", channelData: nil),
            #"{"event":"pusher:subscribe","data":{"channel":"private-c","auth":"k:s"}}"#
        ),
        (
            .subscribe(channel: "presence-c", auth: "k:s", channelData: #"{"user_id":"ä"}"#),
            #"{"event":"pusher:subscribe","data":{"channel":"presence-c","auth":"k:s","channel_data":"{\"user_id\":\"ä\"}"}}"#
        ),
        (.unsubscribe(channel: "c"), #"{"event":"pusher:unsubscribe","data":{"channel":"c"}}"#),
        (.signIn(auth: "k:s", userData: "{}"), #"{"event":"pusher:signin","data":{"auth":"k:s","user_data":"{}"}}"#),
        (
            .clientEvent(name: "client-\"x\"", channel: "private-c", data: "[1]"),
            #"{"event":"client-\"x\"","channel":"private-c","data":[1]}"#
        ),
    ])
    func messagesAsServersReadThem(message: ClientMessage, text: String) {
        #expect(EnvelopeEncoder.encode(message) == text)
    }

    /// What was signed must arrive byte for byte, whatever is in it.
    @Test(arguments: ["\u{0}\u{1}\u{1f}\u{7f}", "\"\\/\u{8}\u{c}\n\r\t", "é🙂\u{2028}\u{FFFD}", "{\"a\":\"\\u00e9\"}", ""])
    func textSurvives(text: String) throws {
        let frame = EnvelopeEncoder.encode(.subscribe(channel: text, auth: text, channelData: text))
        let object = try JSONSerialization.jsonObject(with: Data(frame.utf8)) as? [String: Any]
        let data = object?["data"] as? [String: String]
        for member in ["channel", "auth", "channel_data"] {
            #expect(data?[member].map { Array($0.utf8) } == Array(text.utf8))
        }
    }
}
