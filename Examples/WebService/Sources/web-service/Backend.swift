import Foundation
import HTTPTypes
import Hummingbird
import Logging
import PusherChannels

/// The routes of the shop. Users are already identified (``UserContext``); a webhook is identified by its signature.
struct Backend: Sendable {
    struct Order: Codable {
        let id: Int
    }

    let api: PusherHTTPAPI
    let authenticator: PusherAuthenticator
    let verifier: PusherWebhookVerifier

    /// Authorizes a connection for a channel that its user may join.
    @Sendable func authorize(_ request: Request, _ context: UserContext) async throws -> Response {
        let asked = try await authRequest(request)
        guard let channel = asked.channelName else { throw HTTPError(.badRequest, message: "there is no channel_name") }
        guard context.user.mayJoin(channel) else { throw HTTPError(.forbidden) }
        return try signed {
            channel.hasPrefix("presence-")
                ? try authenticator.authorizePresenceChannel(asked, userID: context.user.id).json
                : try authenticator.authorizeChannel(asked).json
        }
    }

    /// Authenticates the user who signs in on a connection.
    @Sendable func authenticateUser(_ request: Request, _ context: UserContext) async throws -> Response {
        let asked = try await authRequest(request)
        return try signed { try authenticator.authenticateUser(asked, userID: context.user.id).json }
    }

    /// Publishes a new order to those who follow orders.
    @Sendable func placeOrder(_ request: Request, _ context: UserContext) async throws -> HTTPResponse.Status {
        let order = try await request.decode(as: Order.self, context: context)
        do {
            try await api.trigger(channels: ["private-orders"], eventName: "placed", data: order)
        } catch let error as PusherError {
            // The order may have been published all the same (`HTTPAPIFailure.mayHaveBeenCarriedOut`). Listeners recognize an
            // order by its id.
            context.logger.error("order not published", metadata: ["order": "\(order.id)", "error": "\(error)"])
            throw HTTPError(.badGateway)
        }
        return .accepted
    }

    /// Receives webhooks about the channels.
    @Sendable func receiveWebhook(_ request: Request, _ context: VisitContext) async throws -> HTTPResponse.Status {
        // Byte for byte as received, because that is what is signed.
        let body = try await request.body.collect(upTo: 1 << 20)
        let webhook: PusherWebhook
        do {
            webhook = try verifier.verify(
                body: body.readableBytesView, key: field("X-Pusher-Key", of: request),
                signature: field("X-Pusher-Signature", of: request))
        } catch {
            context.logger.warning("webhook refused", metadata: ["error": "\(error)"])
            throw HTTPError(.unauthorized)
        }
        for event in webhook.events {
            switch event {
            case .channelOccupied(let channel): context.logger.info("channel occupied", metadata: ["channel": "\(channel)"])
            case .channelVacated(let channel): context.logger.info("channel vacated", metadata: ["channel": "\(channel)"])
            default: break
            }
        }
        return .ok
    }

    private func authRequest(_ request: Request) async throws -> PusherAuthRequest {
        let body = try await request.body.collect(upTo: 4096)
        do {
            return try PusherAuthRequest(body: body.readableBytesView)
        } catch {
            throw HTTPError(.badRequest, message: error.message)
        }
    }

    private func field(_ name: String, of request: Request) -> String? {
        HTTPField.Name(name).flatMap { request.headers[$0] }
    }

    /// Signs a response to a client. A name that the authenticator refuses is the client's mistake.
    private func signed(_ json: () throws -> Data) throws -> Response {
        do {
            let body = ByteBuffer(bytes: try json())
            return Response(status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
        } catch let error as PusherError {
            throw HTTPError(.badRequest, message: error.message)
        }
    }
}
