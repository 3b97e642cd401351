/// The users that the signed-in user watches: who of them comes online and who goes offline.
///
/// All members may be used from any thread; closures are called where ``PusherClientOptions/delivery`` says.
public struct PusherWatchlist: Sendable {
    let connection: PusherConnection

    /// Calls the closure with the ids of users who did so, `eventName` being `online` or `offline`; gives an id to take it back
    /// with. After signing in the server tells who is online.
    @preconcurrency
    @discardableResult
    public func bind(eventName: String, callback: @escaping @Sendable ([String]) -> Void) -> Int {
        connection.core.watch(Name(eventName), callback)
    }

    /// Takes back what ``bind(eventName:callback:)`` bound under this id.
    public func unbind(callbackId: Int) {
        connection.core.unwatch(callbackId)
    }
}
