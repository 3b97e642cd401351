import Foundation
import PusherTestSupport
import Testing

/// The wrapper of ``Wrapper`` on a real server.
@Suite struct WrapperTests {
    final class Calls: MethodChannel {
        let calls: AsyncStream<(String, String)>
        private let continuation: AsyncStream<(String, String)>.Continuation

        override init() {
            (calls, continuation) = AsyncStream.makeStream()
        }

        override func invokeMethod(_ method: String, arguments: Any?, result: ((Any?) -> Void)?) {
            let values = arguments as? [String: Any?] ?? [:]
            let facts = ["currentState", "eventName", "data", "type", "channelName"].compactMap { values[$0] as? String }
            continuation.yield((method, facts.joined(separator: " ")))
            result?(nil)
        }

        /// Returns the calls up to the first one of a method, or nil if it is none of these.
        func until(_ method: String, _ facts: String) async -> [String] {
            var heard: [String] = []
            for await call in calls {
                heard.append(call.0)
                if call == (method, facts) { return heard }
            }
            return heard
        }
    }

    @Test(.timeLimit(.minutes(1))) func `A wrapper hears what it would hear from PusherSwift`() async throws {
        let server = try await LocalServer.start()
        let calls = Calls()
        let wrapper = Wrapper()
        wrapper.methodChannel = calls
        wrapper.initChannels([
            "apiKey": ServerApp.local.key, "host": "127.0.0.1", "wsPort": server.port, "useTLS": false, "pongTimeout": 5000.0,
            "authorizer": true,
        ])
        wrapper.connect()
        wrapper.subscribe("news")
        _ = await calls.until("onEvent", "pusher:subscription_succeeded {} news")
        server.publish(channel: "news", event: "placed", data: "7")
        _ = await calls.until("onEvent", "placed 7 news")
        wrapper.subscribe("private-orders")
        _ = await calls.until("onSubscriptionError", "SubscriptionError private-orders")
        await server.stop()
        let heard = await calls.until("onConnectionStateChange", "reconnecting")
        #expect(!heard.contains("onError"), "a lost connection is no error of the server's")
        wrapper.disconnect()
    }
}
