import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ServerApp {
    /// An address that is told of what happens on the app's channels.
    public struct WebhookEndpoint: Equatable, Sendable {
        /// The address that is posted to.
        public var url: String
        /// The events that it is told of.
        public var kinds: Set<WebhookKind>

        /// Creates an endpoint, which is told of everything unless `kinds` says otherwise.
        public init(_ url: String, kinds: Set<WebhookKind> = Set(WebhookKind.allCases)) {
            self.url = url
            self.kinds = kinds
        }
    }
}

extension ServerMachine {
    /// A webhook that is to be sent.
    public struct Webhook: Equatable, Sendable, CustomStringConvertible {
        /// The key of the app on whose channels something happened.
        public let appKey: String
        /// The address that is told.
        public let url: String
        let events: [WebhookEvent]

        /// The body, with the time at which it is made.
        package func body(at date: Date) -> String {
            let time = Int(exactly: (date.timeIntervalSince1970 * 1000).rounded(.down)) ?? 0
            return JSONValue.object(["time_ms": .integer(time), "events": .array(events.map(\.json))]).text
        }

        /// `channel_occupied, member_added to http://127.0.0.1:8080/webhooks`; of the address neither user and password nor the query.
        public var description: String {
            "\(events.map(\.kind.rawValue).joined(separator: ", ")) to \(url.withoutSecretsOfAddresses.inLogLine())"
        }
    }

    /// Has the backend of an app told of what happens from now on.
    ///
    /// - Parameters:
    ///   - endpoint: The receiver, and the events that it is sent.
    ///   - appKey: The key of the app; `nil` for every one, those that come later among them.
    public mutating func addWebhook(_ endpoint: ServerApp.WebhookEndpoint, appKey: String? = nil) {
        if appKey == nil { webhooksOfNewApps.append(endpoint) }
        for index in apps.indices where appKey == nil || apps[index].key == appKey {
            apps[index].webhooks.append(endpoint)
        }
    }

    func secret(ofAppWithKey key: String) -> String? {
        apps.first { $0.key == key }?.secret
    }

    mutating func tellBackend(_ event: WebhookEvent, of app: ServerApp, into effects: inout [Effect]) {
        guard profile.sendsWebhooks, !endpoints(of: app.key).isEmpty else { return }
        // A user's own channel is the server's affair.
        guard !event.channel.hasPrefix(ServerUser.channelPrefix) else { return }
        if let full = webhooks.add(event, of: app.key, at: now) { send(full, into: &effects) }
        needsTime(by: webhooks.deadline)
    }

    mutating func sendDueWebhooks(into effects: inout [Effect]) {
        for batch in webhooks.takeDue(at: now) { send(batch, into: &effects) }
    }

    private func send(_ batch: WebhookQueue.Batch, into effects: inout [Effect]) {
        for endpoint in endpoints(of: batch.appKey) {
            let events = batch.events.filter { endpoint.kinds.contains($0.kind) }
            guard !events.isEmpty else { continue }
            effects.append(.sendWebhook(Webhook(appKey: batch.appKey, url: endpoint.url, events: events)))
        }
    }

    private func endpoints(of appKey: String) -> [ServerApp.WebhookEndpoint] {
        apps.first { $0.key == appKey }?.webhooks ?? []
    }
}

extension ServerMachine.Webhook {
    /// The request that brings the webhook; `nil` for an address that is none.
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
