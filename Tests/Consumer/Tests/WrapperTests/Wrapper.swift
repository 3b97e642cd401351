// What the official wrappers for Flutter and React Native do with PusherSwift, as their authors wrote it; only the import was changed,
// and the frameworks' channel was replaced.
// swift-format-ignore-file: NeverForceUnwrap, AllPublicDeclarationsHaveDocumentation
import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

class MethodChannel {
    func invokeMethod(_ method: String, arguments: Any?, result: ((Any?) -> Void)? = nil) {}
}

public class Wrapper: NSObject, PusherDelegate, Authorizer {  // Swift 6: final
    private var pusher: Pusher!  // Swift 6: stored
    var methodChannel: MethodChannel!

    func initChannels(_ args: [String: Any]) {
        if pusher != nil {
            pusher.unsubscribeAll()
            pusher.disconnect()
        }
        var authMethod: AuthMethod = .noMethod
        if args["authEndpoint"] is String {
            authMethod = .endpoint(authEndpoint: args["authEndpoint"] as! String)
        } else if args["authorizer"] is Bool {
            authMethod = .authorizer(authorizer: self)
        }
        var host: PusherHost = .defaultHost
        if args["host"] is String {
            host = .host(args["host"] as! String)
        } else if args["cluster"] != nil {
            host = .cluster(args["cluster"] as! String)
        }
        var activityTimeout: TimeInterval?
        if args["activityTimeout"] is TimeInterval {
            activityTimeout = args["activityTimeout"] as! Double / 1000.0
        }
        let options = PusherClientOptions(
            authMethod: authMethod,
            host: host,
            port: args["wsPort"] as? Int,
            path: args["path"] as? String,
            useTLS: args["useTLS"] as! Bool,
            activityTimeout: activityTimeout
        )
        pusher = Pusher(key: args["apiKey"] as! String, options: options)
        if args["maxReconnectionAttempts"] is Int {
            pusher.connection.reconnectAttemptsMax = (args["maxReconnectionAttempts"] as! Int)
        }
        if args["maxReconnectGapInSeconds"] is TimeInterval {
            pusher.connection.maxReconnectGapInSeconds = (args["maxReconnectGapInSeconds"] as! TimeInterval)
        }
        if args["pongTimeout"] is TimeInterval {
            pusher.connection.pongResponseTimeoutInterval = args["pongTimeout"] as! TimeInterval / 1000.0
        }
        pusher.connection.activityTimeoutInterval = 60
        pusher.connection.reconnectAttempts = 0
        pusher.connection.delegate = self
        pusher.bind(eventCallback: onEvent)
    }

    public func fetchAuthValue(socketID: String, channelName: String, completionHandler: @escaping (PusherAuth?) -> Void) {
        methodChannel!.invokeMethod("onAuthorizer", arguments: ["socketId": socketID, "channelName": channelName]) { authData in
            if authData != nil {
                let authDataCast = authData as! [String: String]
                completionHandler(
                    PusherAuth(
                        auth: authDataCast["auth"]!,
                        channelData: authDataCast["channel_data"],
                        sharedSecret: authDataCast["shared_secret"]
                    ))
            } else {
                completionHandler(nil)
            }
        }
    }

    public func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        methodChannel.invokeMethod(
            "onConnectionStateChange", arguments: ["previousState": old.stringValue(), "currentState": new.stringValue()])
    }

    public func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {
        var code = ""
        var type = "SubscriptionError"
        if let httpResponse = response as? HTTPURLResponse {
            code = String(httpResponse.statusCode)
            type = "AuthError"
        }
        methodChannel.invokeMethod(
            "onSubscriptionError",
            arguments: [
                "message": (error != nil) ? error!.localizedDescription : ((data != nil) ? data! : error.debugDescription),
                "type": type,
                "code": code,
                "channelName": name,
            ])
    }

    public func receivedError(error: PusherError) {
        methodChannel.invokeMethod(
            "onError", arguments: ["message": error.message, "code": error.code ?? -1, "error": error.debugDescription])
    }

    public func failedToDecryptEvent(eventName: String, channelName _: String, data: String?) {
        methodChannel.invokeMethod("onDecryptionFailure", arguments: ["eventName": eventName, "reason": data])
    }

    func connect() {
        pusher.connect()
    }

    func disconnect() {
        pusher.disconnect()
    }

    func onEvent(event: PusherEvent) {
        var userId: String?
        if event.eventName == "pusher:subscription_succeeded" {
            if let channel = pusher.connection.channels.findPresence(name: event.channelName!) {
                userId = channel.myId
            }
        }
        methodChannel.invokeMethod(
            "onEvent",
            arguments: [
                "channelName": event.channelName,
                "eventName": event.eventName,
                "userId": event.userId ?? userId,
                "data": event.data,
            ])
    }

    func subscribe(_ channelName: String) {
        if channelName.hasPrefix("presence-") {
            let onMemberAdded: (PusherPresenceChannelMember) -> Void = { user in
                self.methodChannel.invokeMethod(
                    "onMemberAdded",
                    arguments: ["channelName": channelName, "user": ["userId": user.userId, "userInfo": user.userInfo]])
            }
            pusher.subscribeToPresenceChannel(channelName: channelName, onMemberAdded: onMemberAdded)  // Swift 6: function
        } else {
            let onSubscriptionCount: (Int) -> Void = { subscriptionCount in
                self.methodChannel.invokeMethod(
                    "onEvent",
                    arguments: [
                        "channelName": channelName,
                        "eventName": "pusher:subscription_count",
                        "data": ["subscription_count": subscriptionCount],
                    ])
            }
            pusher.subscribe(channelName: channelName, onSubscriptionCountChanged: onSubscriptionCount)  // Swift 6: function
        }
    }

    func trigger(_ channelName: String, eventName: String, data: String?) {
        if let channel = pusher.connection.channels.find(name: channelName) {
            channel.trigger(eventName: eventName, data: data as Any)
        }
    }
}
