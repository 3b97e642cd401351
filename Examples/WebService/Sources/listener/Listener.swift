import Configuration
import Foundation
import Logging
import PusherChannels
import ServiceLifecycle
import Shop

/// Signs in at the web service, follows its orders and writes a line for each, until it gets SIGTERM.
///
/// Settings come from the environment: the app's (`PusherSettings`), `SERVICE_URL` and `USER_TOKEN`.
@main
enum Listener {
    static func main() async {
        do {
            try await run()
        } catch {
            // An error thrown out of `main` would end the process like a crash.
            Logger(label: "listener").critical("\(error)")
            exit(EXIT_FAILURE)
        }
    }

    private static func run() async throws {
        let config = ConfigReader(provider: EnvironmentVariablesProvider())
        let service = try config.requiredString(forKey: "service.url")
        let token = try config.requiredString(forKey: "user.token", isSecret: true)
        let options = PusherClientOptions(
            authMethod: .customEndpoint(endpoint(service + "/pusher/auth", token)),
            userAuthMethod: .customEndpoint(endpoint(service + "/pusher/user-auth", token)))
        let pusher = try Pusher(config: config, options: options)
        // Calls back once. The client signs in again by itself on every later connection, and whenever its authorization may
        // succeed on another try.
        pusher.signIn { result in
            switch result {
            case .success(let user): write("signed in as \(user)")
            case .failure(let error): write("not signed in: \(error)")
            }
        }
        let orders = Orders(updates: pusher.updates(of: "private-orders", as: OrderEvent.self))
        let group = ServiceGroup(
            services: [pusher, orders], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "listener"))
        try await group.run()
    }

    /// Returns an endpoint of the service. The token identifies the user.
    private static func endpoint(_ address: String, _ token: String) -> AuthEndpoint {
        var endpoint = AuthEndpoint(address)
        endpoint.headers = { _ in ["Authorization": "Bearer \(token)"] }
        return endpoint
    }
}

/// Writes the updates of the channel of orders.
struct Orders: Service {
    let updates: TypedUpdates<OrderEvent>

    func run() async throws {
        for try await update in updates {
            switch update {
            case .event(.placed(let order), _): write("order \(order.id)")
            // One that can't be read is no reason to stop.
            case .undecodable(_, let error): write("an order that can't be read: \(error)")
            case .channel(.subscribed): write("following orders")
            case .channel(.eventsMayBeMissing(let gap)): write("orders since \(gap.since) may be missing: fetch them")
            case .channel(.subscriptionFailed(let error)): write("not subscribed, and tried again: \(error)")
            case .unknown, .channel: break
            }
        }
        write("done")
    }
}

/// Writes a line at once, for the reader: standard output is buffered unless it is a terminal. A full disk is no reason to stop.
private func write(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
}
