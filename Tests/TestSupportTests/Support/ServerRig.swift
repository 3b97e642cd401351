import Foundation
import TestSupport

/// A server machine, together with the effects of its latest input.
struct ServerRig {
    typealias ID = ServerMachine.ConnectionID

    var machine: ServerMachine
    var now: Instant = .origin
    private(set) var effects: [ServerMachine.Effect] = []

    /// Creates a rig whose first connections are open.
    init(_ machine: ServerMachine = ServerMachine(socketIDs: ["1.2", "3.4", "5.6", "7.8"]), open count: Int = 0) {
        self.machine = machine
        for number in 0..<count { open(number + 1) }
    }

    mutating func handle(_ input: ServerMachine.Input) {
        machine.handle(input, at: now)
        effects = machine.takeEffects()
    }

    mutating func open(_ number: Int, path: String = "/app/local-key?protocol=7&client=test&version=1.0") {
        handle(.opened(ID(number), path: path))
    }

    /// Stops the server, and returns the closes that it sends.
    mutating func closesAtShutdown() -> [String] {
        shutdown()
        return closes
    }

    mutating func receive(_ text: String, from number: Int) {
        handle(.received(text, from: ID(number)))
    }

    private func socketID(_ number: Int) -> String {
        machine.openConnections.first { $0.id == ID(number) }?.socketID ?? ""
    }

    /// Subscribes with the signature that the app's backend would make.
    mutating func subscribe(_ number: Int, to channel: String, as userID: String? = nil, info: String? = nil) {
        let socketID = socketID(number)
        let channelData = userID.map { id in
            var data: [Name: JSONValue] = ["user_id": .string(id)]
            data["user_info"] = info.map { .string($0) }
            return JSONValue.object(data).text
        }
        let auth =
            (try? Signature.channel(
                channel, channelData: channelData, socketID: socketID, key: "local-key", secret: "local-secret")) ?? ""
        receive(Self.subscription(to: channel, auth: auth, channelData: channelData), from: number)
    }

    static func subscription(to channel: String, auth: String? = nil, channelData: String? = nil) -> String {
        var data: [Name: JSONValue] = ["channel": .string(channel)]
        data["auth"] = auth.map { .string($0) }
        data["channel_data"] = channelData.map { .string($0) }
        return JSONValue.object(["event": "pusher:subscribe", "data": .object(data)]).text
    }

    mutating func signIn(_ number: Int, as userID: String, watchlist: [String]? = nil) {
        var data: [Name: JSONValue] = ["id": .string(userID)]
        data["watchlist"] = watchlist.map { .array($0.map { .string($0) }) }
        signIn(number, userData: JSONValue.object(data).text)
    }

    /// Signs in with the signature that the app's backend would make.
    mutating func signIn(_ number: Int, userData: String) {
        let auth = (try? Signature.user(userData, socketID: socketID(number), key: "local-key", secret: "local-secret")) ?? ""
        let data: JSONValue = .object(["auth": .string(auth), "user_data": .string(userData)])
        receive(JSONValue.object(["event": "pusher:signin", "data": data]).text, from: number)
    }

    mutating func publish(_ channel: String, _ event: String, _ data: String, appKey: String? = nil) {
        machine.publish(channel: channel, event: event, data: data, appKey: appKey)
        effects = machine.takeEffects()
    }

    mutating func shutdown() {
        machine.shutdown()
        effects = machine.takeEffects()
    }

    mutating func respond(to request: RecordedRequest, unixTime: Int = 1_700_000_000) -> StubResponse {
        defer { effects = machine.takeEffects() }
        return machine.respond(to: request, unixTime: unixTime)
    }

    /// The messages of the latest effects as `1: text`.
    var sent: [String] {
        effects.compactMap { effect in
            guard case .send(let text, let id) = effect else { return nil }
            return "\(id.number): \(text)"
        }
    }

    /// The closes of the latest effects as `1: code reason`.
    var closes: [String] {
        effects.compactMap { effect in
            guard case .close(let id, let code, let reason) = effect else { return nil }
            return "\(id.number): \(code) \(reason)"
        }
    }

    /// The webhooks of the latest effects.
    var webhooks: [ServerMachine.Webhook] {
        effects.compactMap { effect in
            guard case .sendWebhook(let webhook) = effect else { return nil }
            return webhook
        }
    }

    /// The `type`, the `status` and the message of the subscription error that was sent.
    var subscriptionError: (type: String?, status: Int?, message: String?)? {
        for case .send(let text, _) in effects {
            guard let frame = try? JSONValue(parsing: text), frame["event"] == "pusher:subscription_error" else { continue }
            let data = frame["data"]
            return (data?["type"]?.stringValue, data?["status"]?.integerValue, data?["error"]?.stringValue)
        }
        return nil
    }

    /// The code and the message of the `pusher:error` that was sent, or of Sockudo's own.
    var error: (code: Int?, message: String?)? {
        for case .send(let text, _) in effects {
            guard let frame = try? JSONValue(parsing: text), frame["event"] == "pusher:error" || frame["event"] == "sockudo:error"
            else { continue }
            let data = (frame["data"]?.stringValue).flatMap { try? JSONValue(parsing: $0) } ?? frame["data"]
            return (data?["code"]?.integerValue, data?["message"]?.stringValue)
        }
        return nil
    }
}
