/// What the application left to hear of its user: event bindings, watchlist callbacks, those who wait for a sign-in.
final class UserListeners: Sendable {
    typealias SignInCallback = @Sendable (Result<String, PusherError>) -> Void
    typealias WatchlistCallback = @Sendable ([String]) -> Void

    private struct State {
        var signIns: [SignInCallback] = []
        var watchers: [Int: (event: String, callback: WatchlistCallback)] = [:]
        var watchersMade = 0
    }

    let bindings = EventBindings()
    private let state = Locked(State())

    // MARK: Signing in

    /// Calls back once, with the outcome of the next sign-in to end.
    func onSignIn(_ callback: @escaping SignInCallback) {
        state.withLock { $0.signIns.append(callback) }
    }

    func signInEnded(_ result: Result<String, PusherError>) {
        let callbacks = state.withLock { state in
            defer { state.signIns = [] }
            return state.signIns
        }
        for callback in callbacks { callback(result) }
    }

    // MARK: Watchlist

    func watch(_ event: String, _ callback: @escaping WatchlistCallback) -> Int {
        state.withLock { state in
            state.watchersMade += 1
            state.watchers[state.watchersMade] = (event, callback)
            return state.watchersMade
        }
    }

    func unwatch(_ number: Int) {
        state.letGo { $0.watchers.removeValue(forKey: number) }
    }

    func watchlistChanged(_ event: WatchlistEvent) {
        let watchers = state.withLock { $0.watchers.sorted { $0.key < $1.key }.map(\.value) }
        for watcher in watchers where watcher.event == event.name { watcher.callback(event.userIDs) }
    }
}
