// Each use of PusherSwift's API that compiles here, one per line, with the number of its row on the page
// MigratingFromPusherSwift. Only the import was changed.
import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

func clients(options: PusherClientOptions, hearer: Hearer, auth: PusherAuth) {
    let pusher = Pusher(key: "key", options: options)  // 1
    let connection: PusherConnection = pusher.connection  // 2
    pusher.delegate = hearer  // 3
    pusher.subscribe(
        "room", auth: auth, onMemberAdded: { print($0) }, onMemberRemoved: { print($0) },
        onSubscriptionCountChanged: { print($0) })  // 4
    _ = pusher.subscribe(channelName: "room")  // 5
    let onMemberAdded = { @Sendable (member: PusherPresenceChannelMember) in print(member) }
    _ = pusher.subscribe(
        channelName: "presence-room", onMemberAdded: onMemberAdded, onMemberRemoved: nil, onSubscriptionCountChanged: nil)  // 6
    let presence: PusherPresenceChannel = pusher.subscribeToPresenceChannel(
        channelName: "presence-room", auth: nil, onMemberAdded: onMemberAdded)  // 7
    pusher.unsubscribe("room")  // 8
    pusher.unsubscribeAll()  // 9
    let id: String = pusher.bind(eventCallback: { event in print(event.channelName ?? "") })  // 10
    pusher.unbind(callbackId: id)  // 11
    pusher.unbindAll()  // 12
    pusher.connect()  // 13
    pusher.disconnect()  // 14
    print(Set([pusher]).contains(pusher), pusher == pusher)  // 15
    print(connection === pusher.connection, presence)
}

func connections(_ connection: PusherConnection, hearer: Hearer) {
    print(connection.key)  // 18
    print(connection.options.autoReconnect)  // 19
    let socketID: String? = connection.socketId  // 22
    let state: ConnectionState = connection.connectionState  // 23
    let channels = connection.channels  // 24
    print(connection.socket)  // 25
    print(connection.URLSession)  // 26
    connection.userDataFetcher = { PusherPresenceChannelMember(userId: "1", userInfo: ["name": "ann"]) }  // 27
    connection.reconnectAttemptsMax = 6  // 28
    let attempts: Int = connection.reconnectAttempts  // 29
    connection.maxReconnectGapInSeconds = 30  // 30
    connection.delegate = hearer  // 31
    let pong: TimeInterval = connection.pongResponseTimeoutInterval  // 32
    let activity: TimeInterval = connection.activityTimeoutInterval  // 33
    connection.connect()  // 34
    connection.disconnect()  // 35
    print(socketID ?? "", state, channels, attempts, pong, activity)
}

func channels(_ channel: PusherChannel, same: PusherChannel) {
    print(channel.name)  // 43
    let type: PusherChannelType = channel.type  // 44
    print(channel.subscribed)  // 45
    let count: Int? = channel.subscriptionCount  // 46
    channel.onSubscriptionCountChanged = { count in print(count) }  // 47
    channel.connection?.connect()  // 48
    let auth: PusherAuth? = channel.auth  // 49
    let id: String = channel.bind(eventName: "news", eventCallback: { (event: PusherEvent) in print(event) })  // 50
    channel.unbind(eventName: "news", callbackId: id)  // 51
    channel.unbindAll()  // 52
    channel.unbindAll(forEventName: "news")  // 53
    channel.trigger(eventName: "client-news", data: ["text": "hi"])  // 54
    print(channel === same, Set([channel, same]).count)  // 55
    print(type, count ?? 0, auth as Any)
}

func presence(_ channel: PusherPresenceChannel, of channels: ChannelList) {
    let members: [PusherPresenceChannelMember] = channel.members  // 60
    channel.onMemberAdded = { member in print(member.userId) }  // 61
    channel.onMemberRemoved = nil  // 62
    let myID: String? = channel.myId  // 63
    let found: PusherPresenceChannelMember? = channel.findMember(userId: "1")  // 64
    let me: PusherPresenceChannelMember? = channel.me()  // 65
    print(found?.userId ?? "")  // 66
    print(me?.userInfo as Any)  // 67
    let member = PusherPresenceChannelMember(userId: "1", userInfo: nil)  // 68
    let info = member.userInfo as? PusherUserInfoObject  // 69
    print(Set(members).contains(member))  // 70
    let byName: [String: PusherChannel] = channels.channels  // 71
    let room: PusherChannel? = channels.find(name: "room")  // 72
    let lobby: PusherPresenceChannel? = channels.findPresence(name: "presence-lobby")  // 73
    print(myID ?? "", info ?? [:], byName["room"] as Any, room as Any, lobby as Any)
}

func events(_ event: PusherEvent, _ other: PusherEvent, _ error: PusherError, _ auth: PusherAuth) {
    let name: String = event.eventName  // 76
    let channel: String? = event.channelName  // 77
    let data: String? = event.data  // 78
    let user: String? = event.userId  // 79
    let property = event.property(withKey: "name") as? String  // 80
    print(event == other)  // 81
    let code: Int? = error.code  // 83
    let message: String = error.message  // 84
    let made = PusherAuth(auth: "key:signature", channelData: "{}", sharedSecret: nil)  // 86
    print(made.auth)  // 87
    print(auth.channelData ?? "")  // 88
    print(auth.sharedSecret ?? "")  // 89
    print(name, channel ?? "", data ?? "", user ?? "", property ?? "", code ?? 0, message)
}

func options(builder: Builder, tokens: Tokens) {
    var options = PusherClientOptions(
        authMethod: .noMethod, autoReconnect: true, host: .defaultHost, port: nil, path: nil, useTLS: true,
        activityTimeout: nil)  // 90
    _ = PusherClientOptions(
        authMethod: .noMethod, attemptToReturnJSONObject: true, autoReconnect: false, host: .cluster("eu"), port: 443, path: "/",
        useTLS: true, activityTimeout: 30)  // 91
    let method: AuthMethod = options.authMethod  // 92
    options.setAuthMethod(authMethod: .inline(secret: "secret"))  // 93
    let reconnects: Bool = options.autoReconnect  // 94
    let port: Int = options.port  // 96
    let path: String? = options.path  // 97
    let usesTLS: Bool = options.useTLS  // 98
    let activityTimeout: TimeInterval? = options.activityTimeout  // 99
    _ = AuthMethod.endpoint(authEndpoint: "https://example.com/auth")  // 100
    _ = AuthMethod.authRequestBuilder(authRequestBuilder: builder)  // 101
    _ = AuthMethod.authorizer(authorizer: tokens)  // 102
    _ = AuthMethod.inline(secret: "secret")  // 103
    _ = AuthMethod.noMethod  // 104
    if case .inline(let secret) = method { print(secret.count) }  // 106
    _ = PusherHost.host("localhost")  // 107
    _ = PusherHost.cluster("eu")  // 108
    let host = PusherHost.defaultHost  // 109
    let name: String = host.stringValue  // 110
    print(reconnects, port, path ?? "", usesTLS, activityTimeout ?? 0, name)
}

func states(_ state: ConnectionState, _ type: PusherChannelType) {
    switch state {
    case .connecting, .connected, .disconnecting, .disconnected, .reconnecting: print(state)
    }  // 111
    print(state.stringValue())  // 112
    print(state.rawValue)  // 113
    switch type {
    case .private, .presence, .normal: print(type)
    }  // 114
    print(PusherChannelType(name: "room"))  // 115
    print(PusherChannelType.type(forName: "room"))  // 116
    print(PusherChannelType.isPresenceChannel(name: "room"))  // 117
}

final class Builder: AuthRequestBuilderProtocol {  // 120
    func requestFor(socketID: String, channelName: String) -> URLRequest? { nil }
}

final class Tokens: Authorizer {  // 121
    func fetchAuthValue(socketID: String, channelName: String, completionHandler: @escaping (PusherAuth?) -> Void) {
        completionHandler(nil)
    }
}

final class Hearer: PusherDelegate {
    func debugLog(message: String) { print(message) }  // 122
    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) { print(old, new) }  // 123
    func subscribedToChannel(name: String) { print(name) }  // 124
    func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) { print(name) }  // 125
    func failedToDecryptEvent(eventName: String, channelName: String, data: String?) { print(eventName) }  // 126
    func receivedError(error: PusherError) { print(error) }  // 127
}
