// A program as its author wrote it for PusherSwift; only the import was changed.
import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

class AuthRequestBuilder: AuthRequestBuilderProtocol {  // Swift 6: final
    func requestFor(socketID: String, channelName: String) -> URLRequest? {
        guard let url = URL(string: "http://localhost:9292/builder") else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = "socket_id=\(socketID)&channel_name=\(channelName)".data(using: String.Encoding.utf8)
        request.addValue("myToken", forHTTPHeaderField: "Authorization")
        return request
    }
}

class TokenAuthorizer: Authorizer {  // Swift 6: final
    func fetchAuthValue(socketID: String, channelName: String, completionHandler: @escaping (PusherAuth?) -> Void) {
        completionHandler(PusherAuth(auth: "key:signature", channelData: "{\"user_id\":\"777\"}"))
    }
}

class ViewController: PusherDelegate {
    var pusher: Pusher! = nil
    var messages: [String] = []

    func viewDidLoad() {
        let optionsWithBuilder = PusherClientOptions(
            authMethod: AuthMethod.authRequestBuilder(authRequestBuilder: AuthRequestBuilder()),
            autoReconnect: true,
            host: .cluster("eu"),
            port: nil,
            path: nil,
            useTLS: true,
            activityTimeout: 60)
        pusher = Pusher(key: "YOUR_APP_KEY", options: optionsWithBuilder)
        pusher.delegate = self
        pusher.connection.delegate = self
        pusher.connection.reconnectAttemptsMax = 10
        pusher.connection.maxReconnectGapInSeconds = 30
        pusher.connection.userDataFetcher = { () -> PusherPresenceChannelMember in
            return PusherPresenceChannelMember(userId: "123", userInfo: ["twitter": "hamchapman"])
        }

        _ = pusher.bind(eventCallback: { (event: PusherEvent) -> Void in
            if event.eventName == "pusher:error" {
                print(event.data ?? "")
            }
        })

        let myChannel = pusher.subscribe("my-channel")
        let id = myChannel.bind(
            eventName: "my-event",
            eventCallback: { (event: PusherEvent) -> Void in
                guard let json: String = event.data, let jsonData: Data = json.data(using: .utf8) else { return }
                let decoded = try? JSONDecoder().decode([String: String].self, from: jsonData)
                self.messages.append(decoded?["message"] ?? event.property(withKey: "name") as? String ?? "")  // Swift 6: capture
            })
        myChannel.unbind(eventName: "my-event", callbackId: id)
        myChannel.unbindAll(forEventName: "my-event")
        myChannel.unbindAll()

        let onMemberChange = { (member: PusherPresenceChannelMember) in
            print(member.userId, member.userInfo ?? "nobody knows")
        }
        let chan = pusher.subscribe(
            "presence-channel", onMemberAdded: onMemberChange, onMemberRemoved: onMemberChange)  // Swift 6: function
        chan.trigger(eventName: "client-test", data: ["test": "some value"])

        let presence = pusher.subscribeToPresenceChannel(channelName: "presence-my-channel")
        print(presence.members, presence.me()?.userId ?? "", presence.findMember(userId: "1") ?? "", presence.myId ?? "")
        let given = pusher.subscribe(
            "private-channel", auth: PusherAuth(auth: "key:signature"), onSubscriptionCountChanged: { count in print(count) })
        print(given.subscribed, given.subscriptionCount ?? 0, given.name, given.type)

        print(pusher.connection.socketId ?? "", pusher.connection.connectionState.stringValue())
        print(pusher.connection.channels.find(name: "my-channel")?.name ?? "")
        print(pusher.connection.channels.findPresence(name: "presence-channel")?.members.count ?? 0)
        pusher.connect()
        pusher.unsubscribe("my-channel")
        pusher.unsubscribeAll()
        pusher.unbindAll()
        pusher.disconnect()

        _ = PusherClientOptions(authMethod: .authorizer(authorizer: TokenAuthorizer()))
        _ = PusherClientOptions(authMethod: .inline(secret: "secret"), host: .host("localhost"), port: 8000, useTLS: false)
        _ = PusherClientOptions(authMethod: .endpoint(authEndpoint: "http://localhost:9292/pusher/auth"))
        _ = PusherClientOptions(authMethod: .noMethod)
    }

    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        print("old: \(old.stringValue()) -> new: \(new.stringValue())")
    }

    func subscribedToChannel(name: String) {
        print("Subscribed to \(name)")
    }

    func debugLog(message: String) {
        print(message)
    }

    func receivedError(error: PusherError) {
        if let code = error.code {
            print("Received error: (\(code)) \(error.message)")
        }
    }

    func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {
        print(name, response as Any, data ?? "", error?.localizedDescription ?? "")
    }

    func failedToDecryptEvent(eventName: String, channelName: String, data: String?) {
        print(eventName, channelName, data ?? "")
    }
}
