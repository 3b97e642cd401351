import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ServerApp {
    /// An address that receives webhooks about the app's channels.
    public struct WebhookEndpoint: Equatable, Sendable {
        /// The address that webhooks are posted to.
        public var url: String
        /// The kinds of events that are sent to it.
        public var kinds: Set<WebhookKind>

        /// Creates an endpoint, which receives all kinds of events unless `kinds` says otherwise.
        public init(_ url: String, kinds: Set<WebhookKind> = Set(WebhookKind.allCases)) {
            self.url = url
            self.kinds = kinds
        }
    }
}

extension ServerMachine {
    /// A webhook to send.
    public struct Webhook: Equatable, Sendable, CustomStringConvertible {
        /// The key of the app whose channels the webhook is about.
        public let appKey: String
        /// The address that the webhook is posted to.
        public let url: String
        let events: [WebhookEvent]
        /// Indicates whether `time_ms` is in seconds.
        let isInSeconds: Bool
        package var kinds: [WebhookKind] { events.map(\.kind) }

        /// Returns the body, dated with the time at which it is made.
        package func body(at date: Date) -> String {
            let time = Int(exactly: (date.timeIntervalSince1970 * (isInSeconds ? 1 : 1000)).rounded(.down)) ?? 0
            return JSONValue.object(["time_ms": .integer(time), "events": .array(events.map(\.json))]).text
        }

        /// A text such as `channel_occupied, member_added to http://127.0.0.1:8080/webhooks`. The address is shown without user,
        /// password and query.
        public var description: String {
            "\(events.map(\.kind.rawValue).joined(separator: ", ")) to \(url.withoutSecretsOfAddresses.inLogLine())"
        }
    }

    /// Starts sending webhooks to the backend of an app.
    ///
    /// - Parameters:
    ///   - endpoint: The receiver, and the kinds of events that are sent to it.
    ///   - appKey: The key of the app; `nil` for all apps, including those that come later.
    package mutating func addWebhook(_ endpoint: ServerApp.WebhookEndpoint, appKey: String? = nil) {
        if appKey == nil { webhooksOfNewApps.append(endpoint) }
        for index in apps.indices where appKey.map(apps[index].hasKey) ?? true {
            apps[index].webhooks.append(endpoint)
        }
    }

    /// Returns the finding about an address to which nothing will be sent; nil if the server sends webhooks.
    func finding(ofWebhooksTo url: String) -> Finding? {
        if profile.sendsWebhooks { return nil }
        return Finding(.error, "webhooks to \(url.withoutSecretsOfAddresses): a server of this profile sends none")
    }

    func secret(ofAppWithKey key: String) -> String? {
        apps.first { $0.hasKey(key) }?.secret
    }

    mutating func tellBackend(_ event: WebhookEvent, of app: ServerApp) {
        guard profile.sendsWebhooks, !endpoints(of: app.key).isEmpty else { return }
        // A user's own channel is internal to the server.
        guard !ServerUser.isUserChannel(event.channel.text) else { return }
        if let full = webhooks.add(event, of: app.key, at: now) { send(full) }
        needsTime(by: webhooks.deadline)
    }

    mutating func sendDueWebhooks() {
        for batch in webhooks.takeDue(at: now) { send(batch) }
    }

    private mutating func send(_ batch: WebhookQueue.Batch) {
        for endpoint in endpoints(of: batch.appKey) {
            let events = batch.events.filter { endpoint.kinds.contains($0.kind) }
            guard !events.isEmpty else { continue }
            let webhook = Webhook(
                appKey: batch.appKey, url: endpoint.url, events: events, isInSeconds: profile.webhookTimesAreInSeconds)
            effects.append(.sendWebhook(webhook))
        }
    }

    private func endpoints(of appKey: String) -> [ServerApp.WebhookEndpoint] {
        apps.first { $0.hasKey(appKey) }?.webhooks ?? []
    }
}

extension ServerMachine.Webhook {
    /// Returns the request that delivers the webhook; `nil` if its address is invalid.
    package func request(secret: String, at date: Date) -> URLRequest? {
        guard let address = URL(string: url), ["http", "https"].contains(address.scheme?.lowercased()) else { return nil }
        let body = body(at: date)
        // The hosted service waits four seconds for a response.
        var request = URLRequest(url: address, timeoutInterval: 4)
        request.httpMethod = "POST"
        request.httpBody = Data(body.utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue(appKey, forHTTPHeaderField: "X-Pusher-Key")
        request.setValue(hmacSHA256(body, key: secret), forHTTPHeaderField: "X-Pusher-Signature")
        return request
    }
}
