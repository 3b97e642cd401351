import Foundation
import Logging
import PusherChannels

extension CostScene {
    /// The options of a client that can do everything there is, and logs it.
    static var options: PusherClientOptions {
        let masterKey = Data(Self.masterKey).base64EncodedString()
        var options = PusherClientOptions(
            authMethod: .inline(secret: "secret", encryptionMasterKey: masterKey),
            userAuthMethod: .inline(secret: "secret", userData: #"{"id":"me"}"#), useTLS: false, limits: .unchecked,
            delivery: .immediate)
        options.logger = Logger(label: "cost") { _ in LineReader() }
        return options
    }
}

/// A log handler that reads each line, as a log would.
private struct LineReader: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let channel = event.metadata?["channel"].map { "\($0)" } ?? ""
        withExtendedLifetime("\(event.message)\(channel)") {}
    }
}
