// A service of an app as its author wrote it for PusherSwift, with closures for presence; only the import was changed.
import Foundation
import PusherChannels

protocol ChatServiceDelegate: AnyObject {
    func chatService(_ service: ChatService, didReceive message: ChatMessage)
    func chatServiceDidUpdateMembers(_ service: ChatService)
}

struct ChatMessage: Codable {
    let sender: String
    let text: String
}

class ChatService {
    weak var delegate: ChatServiceDelegate?
    private(set) var members: [String: PusherPresenceChannelMember] = [:]
    private let pusher: Pusher
    private var rooms: [String: PusherPresenceChannel] = [:]
    private let decoder = JSONDecoder()

    init(key: String, cluster: String, authEndpoint: String, userId: String) {
        let options = PusherClientOptions(authMethod: .endpoint(authEndpoint: authEndpoint), host: .cluster(cluster))
        pusher = Pusher(key: key, options: options)
        pusher.connection.reconnectAttemptsMax = nil
        pusher.connection.maxReconnectGapInSeconds = 15
        pusher.connection.userDataFetcher = { PusherPresenceChannelMember(userId: userId, userInfo: ["platform": "Linux"]) }
        pusher.connect()
    }

    deinit {
        if pusher.connection.connectionState != .disconnected { pusher.disconnect() }
    }

    func join(room: String) {
        let onMemberAdded = { [weak self] (member: PusherPresenceChannelMember) in
            guard let self = self else { return }
            self.members[member.userId] = member
            self.delegate?.chatServiceDidUpdateMembers(self)
        }
        let channel = pusher.subscribeToPresenceChannel(
            channelName: "presence-\(room)",
            onMemberAdded: onMemberAdded,  // Swift 6: function
            onMemberRemoved: { [weak self] member in
                guard let self = self else { return }  // Swift 6: capture
                self.members.removeValue(forKey: member.userId)
                self.delegate?.chatServiceDidUpdateMembers(self)
            })
        channel.bind(
            eventName: "pusher:subscription_succeeded",
            eventCallback: { [weak self] _ in
                for member in channel.members { self?.members[member.userId] = member }  // Swift 6: capture
                let me = channel.me()?.userInfo as? [String: Any]
                print(me?["name"] as? String ?? channel.myId ?? "nobody")
            })
        channel.bind(eventName: "client-message") { [weak self] event in
            guard let self = self, let data = event.data?.data(using: .utf8) else { return }  // Swift 6: capture
            do {
                self.delegate?.chatService(self, didReceive: try self.decoder.decode(ChatMessage.self, from: data))
            } catch {
                print("Could not decode a message of \(event.userId ?? "somebody"): \(error)")
            }
        }
        channel.onSubscriptionCountChanged = { count in print("\(count) here") }
        rooms[room] = channel
    }

    func send(_ text: String, to room: String) {
        guard let channel = rooms[room], channel.subscribed else { return }
        channel.trigger(eventName: "client-message", data: ["sender": channel.myId ?? "", "text": text])
    }

    func leave(room: String) {
        rooms[room]?.unbindAll()
        rooms.removeValue(forKey: room)
        pusher.unsubscribe("presence-\(room)")
    }

    func name(of userId: String, in room: String) -> String? {
        let channel = pusher.connection.channels.find(name: "presence-\(room)") as? PusherPresenceChannel
        let info = channel?.findMember(userId: userId)?.userInfo as? [String: String]
        return info?["name"]
    }
}
