import Foundation
import Logging
import PusherChannels
import TestSupport
import Testing

@Suite struct PublishingTests {
    private struct Price: Encodable {
        let symbol: String
        let value: Int
    }

    private enum Order: ChannelEvents {
        case placed(Int)
    }

    private let rig = APIRig()

    // Proves P15.2.
    @Test func `An event is posted with its encoded data as a JSON string`() async throws {
        rig.respond()
        try await rig.api.trigger(
            channels: ["prices", "private-a"], eventName: "price", data: Price(symbol: "é\"", value: 7), excluding: "1.2")
        let data = #"{\"symbol\":\"é\\\"\",\"value\":7}"#
        let request = try #require(rig.session.requests.first)
        #expect(request.text == #"{"channels":["prices","private-a"],"data":"\#(data)","name":"price","socket_id":"1.2"}"#)
        #expect(request.path == "/apps/3/events")
        #expect(request.header("Content-Type") == "application/json")
        #expect(request.header("X-Pusher-Library")?.hasPrefix("swift-pusher-channels ") == true)
    }

    // Proves P15.18.
    @Test func `An idempotency key is sent with its event, and refused if it is empty or too long`() async throws {
        rig.respond()
        try await rig.api.trigger(channels: ["a"], eventName: "e", data: "1", idempotencyKey: "order-7")
        try await rig.api.sendToUser("ann", eventName: "e", data: "1", idempotencyKey: "k")
        try await rig.api.triggerBatch([PusherBatchEvent(channel: "a", eventName: "e", data: "1", idempotencyKey: "b")])
        for (body, key) in zip(rig.bodies, ["order-7", "k", "b"]) { #expect(body.contains("\"idempotency_key\":\"\(key)\"")) }
        for key in ["", String(repeating: "k", count: 129)] {
            await #expect(throws: PusherError.self) {
                try await rig.api.trigger(channels: ["a"], eventName: "e", data: "1", idempotencyKey: key)
            }
        }
        #expect(rig.bodies.count == 3)
    }

    // Proves P15.19.
    @Test func `Tags are sent with their event, also in a batch, and left out if there are none`() async throws {
        rig.respond()
        try await rig.api.trigger(channels: ["a"], eventName: "e", data: "1", tags: ["k": "v", "a": "\""])
        try await rig.api.triggerBatch([
            PusherBatchEvent(channel: "a", eventName: "e", data: "1", tags: ["k": "v"]),
            PusherBatchEvent(channel: "a", eventName: "e", data: "1"),
        ])
        try await rig.api.publish(Order.placed(1), to: "a", tags: ["k": "v"])
        try await rig.api.trigger(channels: ["a"], eventName: "e", data: "1")
        #expect(
            rig.bodies == [
                #"{"channels":["a"],"data":"1","name":"e","tags":{"a":"\"","k":"v"}}"#,
                #"{"batch":[{"channel":"a","data":"1","name":"e","tags":{"k":"v"}},{"channel":"a","data":"1","name":"e"}]}"#,
                #"{"channels":["a"],"data":"1","name":"placed","tags":{"k":"v"}}"#, #"{"channels":["a"],"data":"1","name":"e"}"#,
            ])
    }

    /// Encoded as JSON, bytes would be base64.
    // Proves P15.2, P15.6.
    @Test func `A string or UTF-8 bytes as event data are sent as they are, and data without text is refused`() async throws {
        rig.respond()
        try await rig.api.trigger(channels: ["a"], eventName: "e", data: "plain")
        try await rig.api.trigger(channels: ["a"], eventName: "e", data: ["plain"])
        try await rig.api.trigger(channels: ["a"], eventName: "e", data: Data(#"{"id":7}"#.utf8))
        let sent = ["plain", #"[\"plain\"]"#, #"{\"id\":7}"#]
        #expect(rig.bodies == sent.map { #"{"channels":["a"],"data":"\#($0)","name":"e"}"# })

        let bytes = await #expect(throws: PusherError.self) {
            try await rig.api.trigger(channels: ["a"], eventName: "e", data: Data([0xFF]))
        }
        #expect(bytes?.kind == .invalidRequest)
        let noJSON = await #expect(throws: PusherError.self) {
            try await rig.api.trigger(channels: ["a"], eventName: "e", data: NoJSON())
        }
        #expect(noJSON?.kind == .invalidRequest && noJSON?.message.hasPrefix("the data of e can't be encoded: ") == true)
        #expect(rig.bodies.count == sent.count)
    }

    // Proves P15.3.
    @Test func `A publish returns the requested counts of its channels, in the order of the channels`() async throws {
        rig.respond(200, #"{"channels":{"presence-a":{"user_count":2,"subscription_count":3},"other":{"user_count":9}}}"#)
        let info: [PusherChannelInfo.Attribute] = [.userCount, .subscriptionCount]
        let told = try await rig.api.trigger(channels: ["b", "presence-a"], eventName: "e", data: "", info: info)
        #expect(rig.bodies == [#"{"channels":["b","presence-a"],"data":"","info":"user_count,subscription_count","name":"e"}"#])
        #expect(told.map(\.name) == ["b", "presence-a"])
        #expect(told.map(\.userCount) == [nil, 2])
        #expect(told.map(\.subscriptionCount) == [nil, 3])
    }

    // Proves P15.3.
    @Test(arguments: ["[]", #"{"ok":true}"#, #"{"channels":[]}"#, #"{"channels":{"a":null}}"#])
    func `A publish succeeds without counts if the response has none`(body: String) async throws {
        rig.respond(200, body)
        let told = try await rig.api.trigger(channels: ["a"], eventName: "e", data: "", info: [.userCount])
        #expect(told.map(\.name) == ["a"] && told.first?.userCount == nil)
    }

    // Proves P15.4.
    @Test func `A batch of events is one request and returns each event's channel with its counts`() async throws {
        rig.respond(200, #"{"batch":[{"subscription_count":4},{}]}"#)
        let told = try await rig.api.triggerBatch([
            PusherBatchEvent(
                channel: "a", eventName: "e", data: Price(symbol: "x", value: 1), excluding: "1.2", info: [.subscriptionCount]),
            PusherBatchEvent(channel: "b", eventName: "f", data: "plain"),
            PusherBatchEvent(channel: "c", eventName: "g", data: 1),
        ])
        #expect(
            rig.bodies == [
                #"{"batch":[{"channel":"a","data":"{\"symbol\":\"x\",\"value\":1}","info":"subscription_count","name":"e","#
                    + #""socket_id":"1.2"},{"channel":"b","data":"plain","name":"f"},{"channel":"c","data":"1","name":"g"}]}"#
            ])
        #expect(rig.session.requests.map(\.path) == ["/apps/3/batch_events"])
        #expect(told.map(\.name) == ["a", "b", "c"])
        #expect(told.map(\.subscriptionCount) == [4, nil, nil])
    }

    // Proves P15.5.
    @Test func `An event for a user is published on the user's #server-to-user channel`() async throws {
        rig.respond()
        try await rig.api.sendToUser("ann: 1", eventName: "e", data: ["a": 1])
        #expect(rig.bodies == [##"{"channels":["#server-to-user-ann: 1"],"data":"{\"a\":1}","name":"e"}"##])
        #expect(rig.session.requests.map(\.path) == ["/apps/3/events"])
    }

    @Test func `The log tells of a publish, a retry, and a failed publish, and holds no secret`() async throws {
        try await withTestHarness { harness in
            var logger = harness.makeLogger("api")
            logger.logLevel = .debug
            let retrying = RetryPolicy(maximumAttempts: 2, initialDelay: .zero)
            let rig = APIRig(options: PusherHTTPAPIOptions(retryPolicy: retrying, logger: logger), scheduler: LiveScheduler())
            rig.respond()
            try await rig.api.trigger(channels: ["news"], eventName: "e", data: "1")
            rig.respond(429)
            await #expect(throws: PusherError.self) {
                try await rig.api.triggerBatch([PusherBatchEvent(channel: "a\nb", eventName: "e", data: "1")])
            }
            await #expect(throws: PusherError.self) { try await rig.api.trigger(channels: ["news"], eventName: "e", data: "1") }
            let lines = harness.logEvents().map { event in
                "\(event.level) \(event.message) \(event.metadata?["events"] ?? "") \(event.metadata?["channel"] ?? "")"
            }
            #expect(lines == ["debug published 1 news", "notice request is retried  ", "warning not published 1 news"])
            #expect(!"\(harness.logEvents())".contains(APIRig.secret))
        }
    }
}
