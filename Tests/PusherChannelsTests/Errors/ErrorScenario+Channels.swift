import Foundation
import PusherChannels
import TestSupport
import Testing

/// The reasons why a channel isn't subscribed and why a client event isn't sent.
extension ErrorScenario {
    private static let endpoint = "https://app.example/auth"

    /// An endpoint that answers a request for `private-orders`.
    private static func endpoint(_ name: String, _ response: StubResponse, channel: String = "private-orders") -> ErrorScenario {
        reported(name, by: { ClientRig.connected(auth: .endpoint(authEndpoint: endpoint)) }) { rig in
            rig.session.stub("POST \(endpoint)", response)
            rig.pusher.subscribe(channel)
        }
    }

    private static func method(_ name: String, _ auth: AuthMethod, channel: String = "private-orders") -> ErrorScenario {
        reported(name, by: { ClientRig.connected(auth: auth) }) { $0.pusher.subscribe(channel) }
    }

    private static var sendingInvalidHeader: AuthEndpoint {
        var app = AuthEndpoint(endpoint)
        app.headers = { _ in ["Authorization": "Bearer token\n"] }
        return app
    }

    static let authorization: [ErrorScenario] = [
        method("No auth method is set", .noMethod),
        method("The endpoint's address is invalid", .endpoint(authEndpoint: "app.example/auth")),
        method("A header for the endpoint is invalid", .customEndpoint(sendingInvalidHeader)),
        reported("The endpoint can't be reached", by: { ClientRig.connected(auth: .endpoint(authEndpoint: endpoint)) }) { rig in
            let text = "app.example:443 can't be reached: connection refused (address 192.0.2.1)"
            rig.session.mockResponse = (nil, nil, failure(.cannotConnectToHost, text))
            rig.pusher.subscribe("private-orders")
        },
        endpoint("The endpoint refused", .http(403)),
        endpoint("The endpoint is down or overloaded", .http(503)),
        endpoint("The endpoint's response isn't JSON", StubResponse(text: "<html>")),
        endpoint("The endpoint's response is empty", StubResponse(text: "")),
        endpoint("The endpoint refused with a success status", StubResponse(text: #"{"error":"Not for you","code":403}"#)),
        endpoint("The endpoint's response has no signature", StubResponse(text: #"{"ok":true}"#)),
        endpoint(
            "The endpoint's response has no key for an encrypted channel", StubResponse(text: #"{"auth":"k:s"}"#),
            channel: "private-encrypted-a"),
        method(
            "Your handler threw an error",
            .customHandler { _, _ in throw PusherError(.authorization, code: 404, message: "no such user") }),
        reported("The authorization took too long", by: { .connected(auth: .asking { _ in }) }) {
            $0.pusher.subscribe("private-orders")
            $0.scheduler.advance(by: .seconds(15))
        },
    ]

    static let subscriptions: [ErrorScenario] = [
        method("A channel's name contains an invalid character", .noMethod, channel: "my channel"),
        method("A channel's name is too long", .noMethod, channel: String(repeating: "a", count: 201)),
        reported("The server refused the subscription", by: { ClientRig.unanswered() }) { rig in
            rig.pusher.subscribe("private-orders")
            let data = #"{\"type\":\"AuthError\",\"error\":\"Invalid signature\",\"status\":401}"#
            rig.socket.serverSends(#"{"event":"pusher:subscription_error","channel":"private-orders","data":"\#(data)"}"#)
        },
        reported("The server didn't confirm the subscription", by: { ClientRig.unanswered() }) { rig in
            rig.pusher.subscribe("news")
            rig.scheduler.advance(by: .seconds(30))
        },
        ErrorScenario("A presence channel is waiting for a sign-in") {
            let rig = ClientRig.connected(auth: .endpoint(authEndpoint: endpoint)) {
                $0.userAuthMethod = .endpoint("https://app.example/user")
            }
            rig.session.stub("POST \(endpoint)", .json(["auth": "k:s"]))
            rig.session.stub("POST https://app.example/user", .http(503))
            rig.pusher.signIn { _ in }
            rig.pusher.subscribe("presence-lobby")
            rig.scheduler.advance(by: .seconds(45))
            let told = try await rig.recorder.next { if case .failedToSubscribe = $0 { true } else { false } }
            return try #require(told.failure)
        },
        ErrorScenario("The client is disconnected") {
            try await TestExecutor().run { executor in
                let rig = ClientRig(server: .manual)
                rig.pusher.connect()
                let waiting = Task(executorPreference: executor) { try await rig.pusher.subscribe(to: "news") }
                await executor.settle()
                rig.pusher.disconnect()
                return try await thrown { _ = try await waiting.value }
            }
        },
        ErrorScenario("The client was shut down") {
            let rig = ClientRig()
            await rig.pusher.shutdown()
            return try await thrown { try await rig.pusher.subscribe(to: "news") }
        },
    ]

    private static func event(
        _ name: String, _ event: String = "client-seen", on channel: String = "private-orders", data: String = "1",
        after count: Int = 0
    ) -> ErrorScenario {
        ErrorScenario(name) {
            let orders = ClientRig.connected().pusher
            let channel = orders.subscribe(channel)
            for _ in 0..<count { channel.trigger(eventName: event, data: data) }
            return try withExtendedLifetime(orders) { try channel.trigger(eventName: event, data: data).refusal() }
        }
    }

    static let clientEvents: [ErrorScenario] = [
        event("A client event's name must begin with client-", "seen"),
        event("Public channels don't take client events", on: "news"),
        event("A client event is too large", data: String(repeating: "x", count: 10_241)),
        event("Too many client events", after: 10),
        ErrorScenario("A client event's channel was unsubscribed") {
            let rig = ClientRig.connected()
            let orders = rig.pusher.subscribe("private-orders")
            rig.pusher.unsubscribe("private-orders")
            return try orders.trigger(eventName: "client-seen", data: "1").refusal()
        },
        ErrorScenario("A client event after the client was shut down") {
            let rig = ClientRig.connected()
            let orders = rig.pusher.subscribe("private-orders")
            await rig.pusher.shutdown()
            let asked = rig.pusher.subscribe("private-orders").trigger(eventName: "client-seen", data: "1")
            let refusal = try orders.trigger(eventName: "client-seen", data: "1").refusal()
            #expect(try asked.refusal() == refusal)
            return refusal
        },
    ]
}
