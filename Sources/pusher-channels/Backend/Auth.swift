import ArgumentParser
import Foundation
import PusherChannels

struct Auth: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Do what an app's authorization endpoint does.", subcommands: [Sign.self], defaultSubcommand: Sign.self)

    struct Sign: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Authorize a connection for a channel, or sign its user in, and print the response as JSON.",
            discussion: """
                Needs no network. A presence channel requires --user-id. Without a channel the user is signed in.

                \(Status.text)
                """)

        @Argument(help: "The channel; none to sign a user in.")
        var channel: String?

        @Option(help: "The socket id of the client's connection.")
        var socketID: String

        @Option(help: "The user's id.")
        var userID: String?

        @Option(help: "Information about the user, a JSON object.")
        var userInfo: String?

        @Option(help: "A user id for the user's watchlist; may be given several times.")
        var watch: [String] = []

        @OptionGroup var configuration: SettingsOptions

        @OptionGroup var app: AppOptions

        func validate() throws {
            _ = try app.masterKeys(configuration)
            let isPresence = channel.map { ChannelName($0).kind == .presence } ?? true
            if isPresence, userID == nil { throw ValidationError("give --user-id") }
            if !isPresence, userID != nil || userInfo != nil {
                throw ValidationError("--user-id and --user-info are for presence channels and users")
            }
            if channel != nil, !watch.isEmpty { throw ValidationError("--watch is for users") }
            if let userInfo, (try? JSONValue(parsing: userInfo))?.objectValue == nil {
                throw ValidationError("--user-info takes a JSON object")
            }
        }

        func run() throws {
            output(String(decoding: try signed(), as: UTF8.self).asSafeJSON)
        }

        private func signed() throws -> Data {
            let authenticator = PusherAuthenticator(
                key: configuration.key, secret: try app.secret(configuration),
                encryptionMasterKeys: try app.masterKeys(configuration))
            let request = PusherAuthRequest(socketID: socketID, channelName: channel)
            let info = try userInfo.map { try JSONValue(parsing: $0).text }
            guard let userID else { return try authenticator.authorizeChannel(request).json }
            guard channel != nil else {
                return try authenticator.authenticateUser(request, userID: userID, userInfoJSON: info, watchlist: watch).json
            }
            return try authenticator.authorizePresenceChannel(request, userID: userID, userInfoJSON: info).json
        }
    }
}
