import Configuration
import PusherChannels
import Synchronization
import Testing

@Suite struct ConfigurationTests {
    private func reader(_ values: [AbsoluteConfigKey: ConfigValue]) -> ConfigReader {
        ConfigReader(provider: InMemoryProvider(values: values))
    }

    @Test func `A client and the HTTP API can be configured by environment variables`() throws {
        let config = ConfigReader(
            provider: EnvironmentVariablesProvider(environmentVariables: [
                "PUSHER_KEY": "k", "PUSHER_HOST": "ws.example", "PUSHER_PORT": "6001", "PUSHER_APP_ID": "7", "PUSHER_SECRET": "s",
            ]))
        let pusher = try Pusher(config: config)
        #expect((pusher.connection.key, pusher.connection.options.port) == ("k", 6001))
        #expect("\(try PusherHTTPAPI(config: config))" == "PusherHTTPAPI(app 7, key k)")
    }

    @Test func `A configuration's numbers and booleans are read`() throws {
        let config = reader([
            "pusher.key": "k", "pusher.host": "ws.example", "pusher.port": 6001, "pusher.tls": true,
        ])
        #expect(try PusherSettings(config: config).server == PusherServer(.host("ws.example"), port: 6001))
    }

    /// A reporter hears of every access, and shows no secret.
    @Test func `The URL, the secret, and the encryption key of a configuration are read as secrets`() throws {
        let reporter = Reporter()
        let values: [AbsoluteConfigKey: ConfigValue] = [
            "pusher.url": "https://k:s3cr3t@api-eu.pusher.com/apps/7", "pusher.secret": "s3cr3t", "pusher.key": "k",
            "pusher.encryptionMasterKey": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        ]
        let config = ConfigReader(provider: InMemoryProvider(values: values), accessReporter: reporter)
        #expect(try PusherSettings(config: config).server == PusherServer(.cluster("eu")))
        #expect(reporter.secrets == ["encryptionMasterKey", "secret", "url"])
    }

    private final class Reporter: AccessReporter {
        private let keys = Mutex<Set<String>>([])
        var secrets: [String] { keys.withLock { $0.sorted() } }

        func report(_ event: AccessEvent) {
            guard case .success(let value?) = event.result, value.isSecret else { return }
            keys.withLock { _ = $0.insert(event.metadata.key.components.last ?? "") }
        }
    }
}
