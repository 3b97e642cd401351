import Foundation
import Hummingbird
import Logging
import PusherChannels
import Settings

/// The backend of a shop: authorizes its users, publishes their orders, and receives webhooks about its channels.
///
/// Settings come from the environment: `PUSHER_APP_ID`, `PUSHER_KEY`, `PUSHER_SECRET`, the server's address (``ChannelsServer``),
/// `PORT` to listen on, and `WAREHOUSE_TOKEN` and `CUSTOMER_TOKEN`, which identify users (``Users``). It listens on this machine
/// only, behind a proxy that speaks TLS to the outside, because requests carry tokens. After SIGTERM it ends once the requests in
/// progress have their responses.
@main
enum WebService {
    static func main() async {
        do {
            try await run()
        } catch {
            // An error thrown out of `main` would end the process like a crash.
            Logger(label: "web-service").critical("\(error)")
            exit(EXIT_FAILURE)
        }
    }

    private static func run() async throws {
        let (key, secret, server) = (try setting("PUSHER_KEY"), try setting("PUSHER_SECRET"), try ChannelsServer())
        let backend = Backend(
            api: PusherHTTPAPI(
                appID: try setting("PUSHER_APP_ID"), key: key, secret: secret, host: server.host, port: server.port,
                useTLS: server.useTLS,
                // A customer waits for each publish, so it fails soon rather than be tried again.
                options: PusherHTTPAPIOptions(timeout: .seconds(3), retryPolicy: .none)),
            authenticator: PusherAuthenticator(key: key, secret: secret),
            verifier: PusherWebhookVerifier(secrets: [key: secret]))
        let users = Users([
            try setting("WAREHOUSE_TOKEN"): User(id: "warehouse", followsOrders: true),
            try setting("CUSTOMER_TOKEN"): User(id: "customer", followsOrders: false),
        ])

        let router = Router(context: VisitContext.self)
        router.post("/pusher/webhooks", use: backend.receiveWebhook)
        router.group()
            .add(middleware: UserMiddleware(users: users))
            .group(context: UserContext.self)
            .post("/pusher/auth", use: backend.authorize)
            .post("/pusher/user-auth", use: backend.authenticateUser)
            .post("/orders", use: backend.placeOrder)

        let app = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: try port("PORT"))),
            logger: Logger(label: "web-service"))
        try await app.runService()
    }
}
