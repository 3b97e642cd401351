import Foundation
import PusherChannels
import Testing

@Suite struct PusherAuthRequestTests {
    // Proves P16.7.
    @Test(
        arguments: [
            ("socket_id=1.2&channel_name=private-a", "1.2", "private-a"),
            ("channel_name=presence-a%3Bb%40c%2Cd%3De&socket_id=1%2E2", "1.2", "presence-a;b@c,d=e"),
            ("socket_id=1.2", "1.2", nil), ("socket_id=1.2&tenant=7&empty=&token&channel_name=private-a&", "1.2", "private-a"),
            ("socket_id=1+2%2b3&channel_name=%C3%A9", "1 2+3", "é"), ("socket_id=&channel_name=", "", ""),
            (#"{"socket_id":"1.2","channel_name":"private-a","tenant":7}"#, "1.2", "private-a"),
            ("\r\n\t {\"socket_id\":\"1.2\"}", "1.2", nil), (#"{"socket_id":"1.2","channel_name":null}"#, "1.2", nil),
        ] as [(String, String, String?)])
    func `Socket id and channel are read from a form or from JSON`(body: String, socketID: String, channelName: String?) throws {
        let request = try PusherAuthRequest(body: Data(body.utf8))
        #expect(request.socketID == socketID)
        #expect(request.channelName == channelName)
    }

    // Proves P16.7.
    @Test(arguments: [
        ("", "it has no socket_id"), ("channel_name=private-a", "it has no socket_id"), ("socket%5Fid", "it has no socket_id"),
        ("socket_id=1.2&socket_id=3.4", "its socket_id is there twice"),
        ("socket_id=1.2&channel_name=private-a&channel_name=private-b", "its channel_name is there twice"),
        ("socket_id=1.2&channel%5Fname=private-a&channel_name=private-b", "its channel_name is there twice"),
        ("socket_id=%", "its socket_id is not percent-encoded UTF-8"),
        ("socket_id=%4", "its socket_id is not percent-encoded UTF-8"),
        ("socket_id=%zz", "its socket_id is not percent-encoded UTF-8"),
        ("socket_id=1.2&channel_name=%ff", "its channel_name is not percent-encoded UTF-8"),
        ("{", "it isn't JSON"), (#"{"channel_name":"private-a"}"#, "it has no socket_id"),
        (#"{"socket_id":1.2}"#, "its socket_id isn't a text"),
        (#"{"socket_id":"1.2","channel_name":["private-a"]}"#, "its channel_name isn't a text"),
        (#"{"socket_id":"1.2","socket_id":"3.4"}"#, "its socket_id is there twice"),
        (#"{"socket_id":"1.2","channel\u005fname":"private-a","channel_name":"private-b"}"#, "its channel_name is there twice"),
    ])
    func `An authorization body with no socket id, or repeated or broken members, is refused`(body: String, problem: String) {
        let error = PusherError(.invalidRequest, message: "the body of the authorization request can't be used: \(problem)")
        #expect(throws: error) { try PusherAuthRequest(body: Data(body.utf8)) }
    }

    @Test func `An authorization body with any byte in it is read or refused without a trap`() {
        for byte in UInt8.min...UInt8.max {
            for body in [[byte], Array("socket_id=%".utf8) + [byte], Array("{\"socket_id\":".utf8) + [byte]] {
                _ = try? PusherAuthRequest(body: body)
            }
        }
    }
}
