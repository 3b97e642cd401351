import Configuration
import CoreMetrics
import Foundation
import Hummingbird
import InMemoryTracing
import Instrumentation
import Logging
import PusherChannels
import ServiceLifecycle

let logger = Logger(label: "order-service")

/// Takes orders, publishes them, and keeps the warehouse's copy of them. Settings come from the environment.
@main
enum OrderService {
    static func main() async {
        do { try await run() } catch {
            // An error thrown out of `main` would end the process like a crash.
            logger.critical("\(error)")
            exit(EXIT_FAILURE)
        }
    }

    private static func run() async throws {
        let (telemetry, tracer) = (Telemetry(), InMemoryTracer())
        MetricsSystem.bootstrap(telemetry)
        InstrumentationSystem.bootstrap(tracer)
        let config = ConfigReader(provider: EnvironmentVariablesProvider())
        let settings = try PusherSettings(config: config)
        let database = try Database(
            path: try config.requiredString(forKey: "database"), pages: config.int(forKey: "database.pages", default: 1 << 30))
        let token = try config.requiredString(forKey: "warehouse.token", isSecret: true)
        let customer = try config.requiredString(forKey: "customer.token", isSecret: true)
        var endpoint = AuthEndpoint(try config.requiredString(forKey: "auth.url"))
        endpoint.headers = { _ in ["Authorization": "Bearer \(token)"] }
        let pusher = Pusher(
            settings: settings, options: .init(authMethod: .customEndpoint(endpoint), userAuthMethod: .customEndpoint(endpoint)))
        pusher.signIn { logger.info("sign-in: \($0)") }
        pusher.subscribe("presence-shop", onMemberAdded: { logger.info("\($0.userID) is in the shop") })
        pusher.subscribe("private-encrypted-deliveries").bind(eventName: "placed") { logger.info("deliver \($0.data ?? "")") }
        let steps = pusher.follow("private-orders", as: OrderEvent.self) {
            try await database.run("SELECT id, item FROM orders").map { Order(id: Int($0[0]) ?? 0, item: $0[1]) }
        }

        let backend = Backend(
            database: database, handler: try PusherAuthHandler(settings: settings),
            users: ["Bearer \(token)": "warehouse", "Bearer \(customer)": "customer"])
        let router = Router()
        router.post("/orders", use: backend.placeOrder)
        router.post("/pusher/auth", use: backend.authorize)
        router.post("/pusher/webhooks", use: backend.receiveWebhook)
        router.get("/ready") { _, _ in pusher.health.isReady ? HTTPResponse.Status.ok : .serviceUnavailable }
        router.get("/metrics") { _, _ in telemetry.text }
        let port = try config.requiredInt(forKey: "port")
        let app = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        let outbox = Outbox(database: database, api: try PusherHTTPAPI(settings: settings))
        // In place of an exporter such as swift-otel's.
        let spans = Repeated { for span in tracer.popFinishedSpans() { logger.info("span \(span.operationName)") } }
        // Services are asked to end from the last to the first: readers before the client.
        let warehouse = Warehouse(database: database, steps: steps)
        let services: [any Service] = [pusher, warehouse, Repeated(body: outbox.publishAll), spans, app]
        try await ServiceGroup(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger).run()
    }
}
