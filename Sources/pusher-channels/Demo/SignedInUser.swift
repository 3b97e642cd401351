import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks the server's authorization endpoint on behalf of a user, as an application with its own users does.
struct SignedInUser: AuthRequestBuilderProtocol {
    let userID: String
    let port: Int

    func requestFor(socketID: String, channelName: String) -> URLRequest? {
        guard let url = URL(string: "http://127.0.0.1:\(port)/pusher/auth") else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data("socket_id=\(socketID)&channel_name=\(channelName)&user_id=\(userID)".utf8)
        return request
    }
}
