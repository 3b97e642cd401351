import HTTPTypes
import Hummingbird
import Logging
import PusherChannels
import Shop

/// The routes of the shop. Users are already identified (``UserContext``); a webhook is identified by its signature.
struct Backend: Sendable {
    let api: PusherHTTPAPI
    let handler: PusherAuthHandler

    /// Authorizes a connection for a channel that its user may join, and signs users in.
    @Sendable func authorize(_ request: Request, _ context: UserContext) async throws -> Response {
        let body = try await request.body.collect(upTo: 4096)
        let user = context.user
        return response(
            await handler.respond(to: body.readableBytesView) { request in
                guard let channel = request.channelName else { return .user(id: user.id) }
                guard user.mayJoin(channel) else { return .refused }
                return channel.hasPrefix("presence-") ? .user(id: user.id) : .allowed
            })
    }

    /// Publishes a new order to those who follow orders.
    @Sendable func placeOrder(_ request: Request, _ context: UserContext) async throws -> HTTPResponse.Status {
        let order = try await request.decode(as: Order.self, context: context)
        do {
            try await api.publish(OrderEvent.placed(order), to: "private-orders", excluding: field("X-Socket-ID", of: request))
        } catch let error as PusherError {
            // The order may have been published all the same (`HTTPAPIFailure.mayHaveBeenCarriedOut`). Listeners recognize an
            // order by its id.
            context.logger.error("order not published", metadata: ["order": "\(order.id)", "error": "\(error)"])
            throw HTTPError(error.kind == .invalidRequest ? .badRequest : .badGateway)
        }
        return .accepted
    }

    /// Receives webhooks about the channels.
    @Sendable func receiveWebhook(_ request: Request, _ context: VisitContext) async throws -> Response {
        // Byte for byte as received, because that is what is signed.
        let body = try await request.body.collect(upTo: 1 << 20)
        return response(
            await handler.respond(toWebhook: body.readableBytesView, header: { field($0, of: request) }) { webhook in
                for event in webhook.events {
                    switch event {
                    case .channelOccupied(let channel):
                        context.logger.info("channel occupied", metadata: ["channel": "\(channel)"])
                    case .channelVacated(let channel): context.logger.info("channel vacated", metadata: ["channel": "\(channel)"])
                    default: break
                    }
                }
            })
    }

    private func field(_ name: String, of request: Request) -> String? {
        HTTPField.Name(name).flatMap { request.headers[$0] }
    }

    private func response(_ reply: PusherAuthHandler.Response) -> Response {
        var headers = HTTPFields()
        for (name, value) in reply.headers { HTTPField.Name(name).map { headers[$0] = value } }
        return Response(
            status: .init(code: reply.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body)))
    }
}
