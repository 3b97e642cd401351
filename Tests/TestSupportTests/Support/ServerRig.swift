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

    /// Creates a rig that imitates a server with one app, both of which a test may change.
    init(
        _ profile: ServerProfile, open count: Int = 0, changing change: (inout ServerProfile) -> Void = { _ in },
        app changeApp: (inout ServerApp) -> Void = { _ in }
    ) {
        var profile = profile
        var app = ServerApp.local
        change(&profile)
        changeApp(&app)
        self.init(ServerMachine(apps: [app], profile: profile, socketIDs: ["1.2", "3.4", "5.6", "7.8"]), open: count)
    }

    mutating func handle(_ input: ServerMachine.Input) {
        machine.handle(input, at: now)
        effects = machine.takeEffects()
    }

    mutating func open(_ number: Int, path: String = "/app/local-key?protocol=7&client=test&version=1.0") {
        handle(.opened(ID(number), path: path))
    }

    mutating func receive(_ text: String, from number: Int) {
        handle(.received(text, from: ID(number)))
    }

    mutating func wait(until time: Instant) {
        now = time
        handle(.timePassed)
    }

    private func socketID(_ number: Int) -> String {
        machine.openConnections.first { $0.id == ID(number) }?.socketID ?? ""
    }

    /// Subscribes with the signature that the app's backend would make.
    mutating func subscribe(_ number: Int, to channel: String, as userID: String? = nil, info: String? = nil) {
        let channelData = userID.map { id in
            var data: [Name: JSONValue] = ["user_id": .string(id)]
            data["user_info"] = info.map { .string($0) }
            return JSONValue.object(data).text
        }
        subscribe(number, to: channel, channelData: channelData)
    }

    mutating func subscribe(_ number: Int, to channel: String, channelData: String?) {
        receive(Self.signedSubscription(to: channel, channelData: channelData, socketID: socketID(number)), from: number)
    }

    static func signedSubscription(to channel: String, channelData: String?, socketID: String) -> String {
        let auth = try? Signature.channel(
            channel, channelData: channelData, socketID: socketID, key: "local-key", secret: "local-secret")
        return subscription(to: channel, auth: auth ?? "", channelData: channelData)
    }

    static func subscription(to channel: String, auth: String? = nil, channelData: String? = nil) -> String {
        var data: [Name: JSONValue] = ["channel": .string(channel)]
        data["auth"] = auth.map { .string($0) }
        data["channel_data"] = channelData.map { .string($0) }
        return JSONValue.object(["event": "pusher:subscribe", "data": .object(data)]).text
    }

    mutating func unsubscribe(_ number: Int, from channel: String) {
        receive(#"{"event":"pusher:unsubscribe","data":{"channel":"\#(channel)"}}"#, from: number)
    }

    mutating func signIn(_ number: Int, as userID: String, watchlist: [String]? = nil) {
        var data: [Name: JSONValue] = ["id": .string(userID)]
        data["watchlist"] = watchlist.map { .array($0.map { .string($0) }) }
        signIn(number, userData: JSONValue.object(data).text)
    }

    /// Signs in with the signature that the app's backend would make.
    mutating func signIn(_ number: Int, userData: String) {
        receive(Self.signedSignIn(userData: userData, socketID: socketID(number)), from: number)
    }

    static func signedSignIn(userData: String, socketID: String) -> String {
        let auth = (try? Signature.user(userData, socketID: socketID, key: "local-key", secret: "local-secret")) ?? ""
        let data: JSONValue = .object(["auth": .string(auth), "user_data": .string(userData)])
        return JSONValue.object(["event": "pusher:signin", "data": data]).text
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

    /// Sends what a backend publishes to the HTTP API.
    @discardableResult
    mutating func post(_ body: String, to path: String = "events") -> StubResponse {
        respond(to: .signed("POST", "/apps/1/\(path)", body: body))
    }

    /// Asks an endpoint for a signature.
    mutating func authorize(_ form: String, at path: String = "/pusher/auth", method: String = "POST") -> StubResponse {
        respond(to: RecordedRequest(method: method, url: path, body: Data(form.utf8)))
    }

    /// The messages of the latest effects as `1: text`.
    var sent: [String] {
        effects.compactMap { effect in
            guard case .send(let text, let id) = effect else { return nil }
            return "\(id.number): \(text)"
        }
    }

    /// The messages of the latest effects.
    var frames: [JSONValue] { sent.compactMap { try? JSONValue(parsing: String($0.dropFirst(3))) } }

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

/// Compares recorded frames with those of a server, whatever the order of members. `<s>` stands for the same text each time, `<>`
/// for any.
struct FrameComparison {
    private var texts: [String: String] = [:]

    /// Returns a text with what its placeholders stood for before.
    func filled(_ text: String) -> String { texts.reduce(text) { $0.replacing($1.key, with: $1.value) } }

    mutating func isSame(_ recorded: String, _ sent: String) -> Bool {
        guard let start = recorded.firstIndex(of: "{"), let other = sent.firstIndex(of: "{") else { return recorded == sent }
        guard recorded[..<start] == sent[..<other] else { return false }
        return isSame(try? JSONValue(parsing: String(recorded[start...])), try? JSONValue(parsing: String(sent[other...])))
    }

    private mutating func isSame(_ recorded: JSONValue?, _ sent: JSONValue?) -> Bool {
        switch (recorded, sent) {
        case (.object(let recorded), .object(let sent)):
            return recorded.count == sent.count && recorded.allSatisfy { isSame($0.value, sent[$0.key]) }
        case (.array(let recorded), .array(let sent)):
            return recorded.count == sent.count && zip(recorded, sent).allSatisfy { isSame($0, $1) }
        case ("<>", .some): return true
        case (.string(let recorded), .string(let sent)):
            if let inner = try? JSONValue(parsing: recorded), inner.objectValue != nil {
                return isSame(inner, try? JSONValue(parsing: sent))
            }
            guard let range = recorded.firstRange(of: #/<\w+>/#) else { return recorded == sent }
            let (before, after) = (recorded[..<range.lowerBound], recorded[range.upperBound...])
            guard sent.hasPrefix(before), sent.hasSuffix(after) else { return false }
            let text = String(sent.dropFirst(before.count).dropLast(after.count))
            let known = texts[String(recorded[range])] ?? text
            texts[String(recorded[range])] = text
            return known == text
        default: return recorded == sent
        }
    }
}
