import Foundation
import PusherChannels

let pusher = Pusher(
    key: "local-key",
    options: PusherClientOptions(
        authMethod: .endpoint(authEndpoint: "http://127.0.0.1:6001/pusher/auth"),
        host: .host("127.0.0.1"), port: 6001, useTLS: false))
let orders = pusher.subscribe("private-orders")
orders.bind(eventName: "placed") { event in
    print("order", event.data ?? "")
    fflush(nil)  // to a file or a pipe, print keeps lines back
}
pusher.connect()
dispatchMain()  // keeps the program running
