import Foundation

/// The checks that come before a request. Each throws a ``PusherError`` of kind `invalidRequest`.
extension ProtocolLimits {
    /// Checks the channels of one event.
    func checkChannels(_ channels: [String]) throws(PusherError) {
        guard !channels.isEmpty else { throw PusherError(.invalidRequest, message: "an event needs a channel") }
        if let limit = channelsPerEvent, channels.count > limit {
            throw PusherError(
                .invalidRequest, message: "an event can be published to \(limit) channels at a time, these are \(channels.count)")
        }
        for channel in channels { try checkChannel(channel) }
    }

    /// Checks the name of a channel.
    func checkChannel(_ channel: String) throws(PusherError) {
        guard let problem = ChannelName(channel).problem(self) else { return }
        throw PusherError(.invalidRequest, message: "\(problem): \"\(channel.inLogLine(upTo: 60))\"")
    }

    func checkEventName(_ name: String) throws(PusherError) {
        guard !name.isEmpty else { throw PusherError(.invalidRequest, message: "an event needs a name") }
        if let problem = problem(ofEventName: name) { throw PusherError(.invalidRequest, message: problem) }
    }

    func checkUserID(_ userID: String) throws(PusherError) {
        guard !userID.isEmpty else { throw PusherError(.invalidRequest, message: "a user needs an id") }
        if let problem = Self.problem(of: userID, as: "a user's id", upTo: userIDLength) {
            throw PusherError(.invalidRequest, message: problem)
        }
    }
}

/// Checks the credentials of an app. Empty ones come from variables that nobody has set, and with an empty secret anybody could
/// sign.
func checkCredentials(key: String, secret: Secret<String>) throws(PusherError) {
    guard !key.isEmpty, !secret.value.isEmpty else {
        throw PusherError(.invalidRequest, message: "the app's \(key.isEmpty ? "key" : "secret") is empty")
    }
}

extension JSONEncoder {
    /// Returns the JSON text of a value. A `String` is used as it is, and so is `Data`, because other encoders produce it.
    func text(of value: any Encodable, what: String) throws(PusherError) -> String {
        if let text = value as? String { return text }
        if let data = value as? Data {
            guard let text = String(data: data, encoding: .utf8) else {
                throw PusherError(.invalidRequest, message: "\(what) is Data that isn't UTF-8: encode it as text")
            }
            return text
        }
        do {
            return String(decoding: try encode(value), as: UTF8.self)
        } catch {
            throw PusherError(.invalidRequest, message: "\(what) can't be encoded: \(PusherChannels.text(of: error))")
        }
    }
}
