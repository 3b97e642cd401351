import Foundation
import PusherChannels

/// The state of a client when a message arrives.
enum CostScene: Sendable {
    /// The server hasn't established the connection yet.
    case establishing
    /// The server hasn't replied to the subscriptions yet.
    case subscribing
    /// The server hasn't replied to the sign-in yet.
    case signingIn
    /// The server has replied to everything.
    case connected

    static let masterKey = [UInt8](repeating: 7, count: SecretBox.keyLength)
    private static let room = "private-encrypted-room"

    /// Returns encrypted data that the client can decrypt.
    static func encrypted(_ data: [UInt8]) -> [UInt8] {
        let nonce = [UInt8](repeating: 1, count: SecretBox.nonceLength)
        let key = SecretBox.sharedSecret(channel: room, masterKey: masterKey)
        let encrypted = Data(SecretBox.seal(data, nonce: nonce, key: key) ?? []).base64EncodedString()
        return Array(#"{"nonce":"\#(Data(nonce).base64EncodedString())","ciphertext":"\#(encrypted)"}"#.utf8)
    }

    /// The frames with which the server brings the client into this state.
    var frames: [String] {
        let established = #"{"event":"pusher:connection_established","data":{"socket_id":"1.1","activity_timeout":120}}"#
        let signedIn = #"{"event":"pusher:signin_success","data":{"user_data":{"id":"me"}}}"#
        let succeeded = ["room", "presence-room", Self.room].map {
            #"{"event":"pusher_internal:subscription_succeeded","channel":"\#($0)","data":{"presence":{"ids":["me"]}}}"#
        }
        let user = ##"{"event":"pusher_internal:subscription_succeeded","channel":"#server-to-user-me","data":{}}"##
        return switch self {
        case .establishing: []
        case .subscribing: [established]
        case .signingIn: [established] + succeeded
        case .connected: [established] + succeeded + [signedIn, user]
        }
    }
}
