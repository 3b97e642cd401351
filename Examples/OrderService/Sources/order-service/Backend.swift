import Foundation
import HTTPTypes
import Hummingbird
import PusherChannels

/// The routes that change something, or that say who may join a channel.
struct Backend: Sendable {
    let database: Database
    let handler: PusherAuthHandler
    /// The users by their `Authorization`, in place of the way your service identifies them, such as by a login session.
    let users: [String: String]

    private func user(of request: Request) throws -> String {
        guard let user = users[request.headers[.authorization] ?? ""] else { throw HTTPError(.unauthorized) }
        return user
    }

    /// Stores an order. It is published afterward: a customer doesn't wait for that, and no crash loses it.
    @Sendable func placeOrder(_ request: Request, _ context: BasicRequestContext) async throws -> HTTPResponse.Status {
        _ = try user(of: request)
        let order = try await request.decode(as: Order.self, context: context)
        // An event has at most 10 KB, escaped and encrypted: one that can't be published would hold up those after it.
        guard try JSONEncoder().encode(order).count < 6_000 else { throw HTTPError(.badRequest) }
        try await database.run(
            "INSERT OR IGNORE INTO orders VALUES (?, ?, ?, 0)", "\(order.id)", order.item, order.address ?? "")
        return .accepted
    }

    /// Authorizes a connection for a channel that its user may join, and signs users in.
    @Sendable func authorize(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let (user, body) = (try user(of: request), try await request.body.collect(upTo: 4096))
        return response(
            await handler.respond(to: body.readableBytesView) { request in
                switch request.channelName {
                case nil, "presence-shop": .user(id: user)
                case "private-orders", "private-encrypted-deliveries": user == "warehouse" ? .allowed : .refused
                default: .refused
                }
            })
    }

    @Sendable func receiveWebhook(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        // Byte for byte as received, because that is what is signed.
        let body = try await request.body.collect(upTo: 1 << 20)
        let field = { name in HTTPField.Name(name).flatMap { request.headers[$0] } }
        return response(
            await handler.respond(toWebhook: body.readableBytesView, header: field) { webhook in
                for event in webhook.events { context.logger.info("webhook", metadata: ["event": "\(event)"]) }
            })
    }

    private func response(_ reply: PusherAuthHandler.Response) -> Response {
        var headers = HTTPFields()
        for (name, value) in reply.headers { HTTPField.Name(name).map { headers[$0] = value } }
        return Response(status: .init(code: reply.status), headers: headers, body: .init(byteBuffer: .init(bytes: reply.body)))
    }
}
