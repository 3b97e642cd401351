import Dispatch
import TestSupport
import Testing

@testable import PusherChannels

@Suite(.timeLimit(.lost)) struct PusherUserTests {
    private let userData = #"{"id":"ann"}"#

    private func rig(_ method: UserAuthMethod) -> ClientRig {
        .unanswered { $0.userAuthMethod = method }
    }

    private func succeed(_ rig: ClientRig) {
        rig.socket.serverSends(#"{"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"ann\"}"}}"#)
    }

    private func signingIn() -> ClientRig { rig(.inline(secret: "s", userData: userData)) }

    private struct NotToday: Error {}

    // Proves P9.1.
    @Test(arguments: [
        (UserAuthMethod.inline(secret: "s3cret", userData: #"{"id":"ann"}"#), [], "key:"),
        (.endpoint("http://h/user-auth"), ["socket_id=46123.486095"], "k:s"),
    ])
    func `A sign-in sends user data signed here or by the endpoint`(method: UserAuthMethod, requests: [String], auth: String) {
        let rig = rig(method)
        rig.respond(#"{"auth":"k:s","user_data":"{\"id\":\"ann\"}"}"#)
        rig.pusher.signIn { _ in }
        #expect(rig.session.requests.map(\.text) == requests)
        #expect(rig.socket.frames.map(\.event) == ["pusher:signin"])
        #expect(rig.socket.frames.first?.dataString("user_data") == userData)
        #expect(rig.socket.frames.first?.dataString("auth").map { $0.hasPrefix("key:") ? "key:" : $0 } == auth)
    }

    @Test func `A sign-in returns the user's ID, at once if the user is already signed in`() async throws {
        let rig = signingIn()
        let heard = Locked<[Result<String, PusherError>]>([])
        rig.pusher.signIn { result in heard.withLock { $0.append(result) } }
        succeed(rig)
        #expect(heard.withLock { $0 } == [.success("ann")])
        #expect(rig.pusher.user.id == "ann")
        #expect(try await rig.pusher.signIn() == "ann", "who is signed in already is so at once")
    }

    // Proves P9.5.
    @Test(arguments: [
        UserAuthMethod.noMethod, .endpoint("nowhere"), .requestBuilder { _ in nil }, .customHandler { _ in throw NotToday() },
    ])
    func `A sign-in throws an authorization error if the user can't be authorized`(method: UserAuthMethod) async {
        let rig = rig(method)
        let error = await #expect(throws: PusherError.self) { try await rig.pusher.signIn() }
        #expect(error?.kind == .authorization && rig.pusher.user.id == nil)
    }

    @Test func `A sign-in's outcome goes to earlier callers only, and later callers await the next one`() {
        let queue = DispatchQueue(label: "slow")
        let rig = ClientRig.unanswered {
            ($0.userAuthMethod, $0.delivery) = (.inline(secret: "s", userData: userData), .queue(queue))
        }
        let heard = Locked<[String]>([])
        func signIn(_ name: String) {
            rig.pusher.signIn { result in heard.withLock { $0.append("\(name) \((try? result.get()) ?? "failed")") } }
        }
        queue.suspend()
        signIn("first")
        rig.socket.serverSends(#"{"event":"pusher:error","data":{"code":4009,"message":"no"}}"#)
        signIn("second")
        queue.resume()
        queue.sync {}
        #expect(heard.withLock { $0 } == ["first failed"])
        succeed(rig)
        queue.sync {}
        #expect(heard.withLock { $0 } == ["first failed", "second ann"])
    }

    @Test func `A canceled task stops waiting for a sign-in, but the sign-in itself goes on`() async throws {
        try await TestExecutor().run { executor in
            let rig = signingIn()
            let signIn = Task(executorPreference: executor) { try await rig.pusher.signIn() }
            await executor.settle()
            signIn.cancel()
            await #expect(throws: CancellationError.self) { try await signIn.value }
            succeed(rig)
            #expect(rig.pusher.user.id == "ann", "the sign-in itself goes on")
            #expect(rig.pusher.connection.core.readState { $0.listeners.user.signIns.count } == 0)
        }
    }

    // Proves P9.6.
    @Test func `A binding of the user receives events of the user's channel until it is unbound`() {
        let rig = signingIn()
        let heard = Locked<[String]>([])
        let id = rig.pusher.user.bind(eventName: "note") { event in heard.withLock { $0.append(event.data ?? "") } }
        rig.pusher.signIn { _ in }
        succeed(rig)
        let note = ##"{"event":"note","channel":"#server-to-user-ann","data":"hi"}"##
        rig.socket.serverSends(note)
        rig.pusher.user.unbind(eventName: "note", callbackId: id)
        rig.socket.serverSends(note)
        #expect(heard.withLock { $0 } == ["hi"])
    }

    private let online =
        #"{"event":"pusher_internal:watchlist_events","data":{"events":[{"name":"online","user_ids":["b"]}]}}"#

    // Proves P9.7.
    @Test func `A watchlist binding is called with the user IDs of its event`() {
        let rig = signingIn()
        let heard = Locked<[String]>([])
        for name in ["online", "offline"] {
            rig.pusher.user.watchlist.bind(eventName: name) { ids in heard.withLock { $0.append("\(name): \(ids)") } }
        }
        rig.socket.serverSends(online)
        #expect(heard.withLock { $0 } == [#"online: ["b"]"#])
    }

    @Test func `A watchlist binding that another binding removes during an event is not called anymore`() {
        let rig = signingIn()
        let watchlist = rig.pusher.user.watchlist
        let (ids, heard) = (Locked<[String]>([]), Locked<[String]>([]))
        let first = watchlist.bind(eventName: "online") { _ in
            for id in ids.withLock(\.self) { watchlist.unbind(callbackId: id) }
        }
        ids.withLock { $0 = [watchlist.bind(eventName: "online") { _ in heard.withLock { $0.append("second") } }] }
        watchlist.bind(eventName: "online") { _ in heard.withLock { $0.append("third") } }
        rig.socket.serverSends(online)
        #expect(heard.withLock(\.self) == ["third"])
        // Its closure refers to the client, by the watchlist.
        watchlist.unbind(callbackId: first)
    }

    // Proves P7.8, P7.9.
    @Test func `The signed-in user is me() on a presence channel authorized without channel data`() {
        let rig = signingIn()
        let lobby = rig.pusher.subscribeToPresenceChannel(channelName: "presence-lobby", auth: PusherAuth(auth: "k:s"))
        rig.pusher.signIn { _ in }
        rig.socket.serverSends(
            #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-lobby","data":{"presence":{"ids":["ann"]}}}"#)
        #expect(lobby.myID == nil)
        succeed(rig)
        #expect(lobby.me()?.userID == "ann")
        rig.socket.serverSendsEvent(
            "pusher_internal:member_removed", channel: "presence-lobby", data: #"{"user_id":"ann"}"#)
        #expect(lobby.me()?.userID == "ann", "it tells of an earlier connection")
    }
}
