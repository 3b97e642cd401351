import Configuration
import Foundation
import Hummingbird
import Logging
import PusherChannels

/// The backend of a shop: authorizes its users, publishes their orders, and receives webhooks about its channels.
///
/// Settings come from the environment: the app's (`PusherSettings`), `PORT` to listen on, and `WAREHOUSE_TOKEN` and
/// `CUSTOMER_TOKEN`, which identify users (``Users``). It listens on this machine only, behind a proxy that speaks TLS to the
/// outside, because requests carry tokens. After SIGTERM it ends once the requests in progress have their responses.
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
        let config = ConfigReader(provider: EnvironmentVariablesProvider())
        let settings = try PusherSettings(config: config)
        let backend = Backend(
            // A customer waits for each publish, so it fails soon rather than be tried again.
            api: try PusherHTTPAPI(
                settings: settings, options: PusherHTTPAPIOptions(timeout: .seconds(3), retryPolicy: .none)),
            handler: try PusherAuthHandler(settings: settings))
        let users = Users([
            try config.requiredString(forKey: "warehouse.token", isSecret: true): User(id: "warehouse", followsOrders: true),
            try config.requiredString(forKey: "customer.token", isSecret: true): User(id: "customer", followsOrders: false),
        ])
        let port = try config.requiredInt(forKey: "port")

        let router = Router(context: VisitContext.self)
        router.post("/pusher/webhooks", use: backend.receiveWebhook)
        router.group()
            .add(middleware: UserMiddleware(users: users))
            .group(context: UserContext.self)
            .post("/pusher/auth", use: backend.authorize)
            .post("/pusher/user-auth", use: backend.authorize)
            .post("/orders", use: backend.placeOrder)

        let app = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            logger: Logger(label: "web-service"))
        try await app.runService()
    }
}
