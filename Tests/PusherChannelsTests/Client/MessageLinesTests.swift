import Logging
import TestSupport
import Testing

@testable import PusherChannels

/// Messages are logged only on request and without secrets.
@Suite struct MessageLinesTests {
    @Test func debugLogShowsMessagesIfAskedTo() {
        let rig = ClientRig.connected { $0.logger.logLevel = .trace }
        rig.pusher.subscribe("presence-room")
        rig.socket.publish(channel: "presence-room", event: "news", data: "1")
        let messages = rig.recorder.log.filter { $0.hasPrefix("message") }.map { $0.replacing("\\\"", with: "'") }
        let expected = [
            "message received text=\"{'event':'pusher:connection_established'",
            "message sent text=\"{'event':'pusher:subscribe','data':{'channel':'presence-room','auth':'…','channel_data':'…'}}\"",
            "message received text=\"{'event':'pusher_internal:subscription_succeeded'",
            "message received text=\"{'event':'news'",
        ]
        #expect(messages.count == expected.count)
        for (message, beginning) in zip(messages, expected) { #expect(message.hasPrefix(beginning), "\(message)") }
    }

    @Test func debugLogShowsNoMessagesOtherwise() {
        let rig = ClientRig.connected()
        rig.pusher.subscribe("room")
        #expect(!rig.recorder.log.contains { $0.hasPrefix("message") })
    }

    @Test func theUserWhoIsSignedInIsNotShown() throws {
        let rig = ClientRig.connected {
            $0.logger.logLevel = .trace
            $0.userAuthMethod = .inline(secret: "secret", userData: #"{"id":"ann","card":"4711"}"#)
        }
        rig.pusher.signIn { _ in }
        #expect(rig.recorder.log.contains { $0.contains("pusher:signin_success") })
        #expect(!rig.recorder.log.contains { $0.contains("4711") })
    }

    @Test(arguments: [
        #"{"event":"pusher:signin_success","data":{"auth":"k:4711","user_data":"{\"card\":\"4711\"}"}}"#,
        #"{"event":"pusher:signin_success","data":{"auth":"k:4711","user_data":"4711"}}"#,
        #"{"event":"pusher:signin_success","data":{"auth":"k:4711","user_data":"#,
        #"{"event":"pusher:signin\u005fsuccess","data":"{\"auth\":\"k:4711\",\"user_data\":7}"}"#,
    ])
    func norIfWhatTheServerSaysOfItMakesNoSense(message: String) {
        let rig = ClientRig.connected { $0.logger.logLevel = .trace }
        rig.socket.serverSends(message)
        #expect(rig.recorder.log.contains { $0.contains("bytes that make no sense, of a sign-in") }, "\(rig.recorder.log)")
        #expect(!rig.recorder.log.contains { $0.contains("4711") })
    }
}
