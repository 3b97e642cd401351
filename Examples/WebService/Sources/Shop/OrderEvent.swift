import PusherChannels

/// An order of the shop.
package struct Order: Codable, Sendable {
    package let id: Int
}

/// The events of the channel of orders, for the web service that publishes them and the listener that follows them.
package enum OrderEvent: ChannelEvents {
    case placed(Order)
}
