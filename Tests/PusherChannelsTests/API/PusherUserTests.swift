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

    private struct NotToday: Error {}

    // Proves P9.1.
    @Test func `With an inline secret, a sign-in sends the user data and a signature made by the client`() {
        let rig = rig(.inline(secret: "s3cret", userData: #"{"id":"u1"}"#))
        rig.pusher.signIn { _ in }
        #expect(rig.socket.frames.map(\.event) == ["pusher:signin"])
        #expect(rig.socket.frames.first?.dataString("user_data") == #"{"id":"u1"}"#)
        #expect(rig.socket.frames.first?.dataString("auth")?.hasPrefix("key:") == true)
    }

    // Proves P9.1.
    @Test func `A sign-in asks the endpoint with the socket ID and sends its reply to the server`() {
        let rig = rig(.endpoint("http://h/user-auth"))
        rig.respond(#"{"auth":"k:s","user_data":"{\"id\":\"ann\"}"}"#)
        rig.pusher.signIn { _ in }
        #expect(rig.session.requests.map(\.text) == ["socket_id=46123.486095"])
        #expect(rig.socket.frames.first?.dataString("auth") == "k:s")
        #expect(rig.socket.frames.first?.dataString("user_data") == userData)
    }

    @Test func `A sign-in returns the user's ID, at once if the user is already signed in`() async throws {
        let rig = rig(.inline(secret: "s", userData: userData))
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
        do {
            try await rig.pusher.signIn()
            Issue.record("signed in")
        } catch {
            #expect((error as? PusherError)?.kind == .authorization)
        }
        #expect(rig.pusher.user.id == nil)
    }

    #if !canImport(Darwin)  // On Apple platforms, the executor needs a newer system than the package does.

    @Test func `A sign-in's outcome goes to earlier callers only, and later callers await the next one`() {
        let queue = DispatchQueue(label: "slow")
        let rig = ClientRig.unanswered {
            $0.userAuthMethod = .inline(secret: "s", userData: userData)
            $0.delivery = .queue(queue)
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
            let rig = rig(.inline(secret: "s", userData: userData))
            let signIn = Task(executorPreference: executor) { try await rig.pusher.signIn() }
            await executor.settle()
            signIn.cancel()
            await #expect(throws: CancellationError.self) { try await signIn.value }
            succeed(rig)
            #expect(rig.pusher.user.id == "ann", "the sign-in itself goes on")
            let waits = rig.pusher.connection.core.readState { $0.listeners.user.signIns.count }
            #expect(waits == 0)
        }
    }

    #endif

    // Proves P9.6.
    @Test func `A binding of the user receives events of the user's channel until it is unbound`() {
        let rig = rig(.inline(secret: "s", userData: userData))
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
        let rig = rig(.inline(secret: "s", userData: userData))
        let heard = Locked<[String]>([])
        for name in ["online", "offline"] {
            rig.pusher.user.watchlist.bind(eventName: name) { ids in heard.withLock { $0.append("\(name): \(ids)") } }
        }
        rig.socket.serverSends(online)
        #expect(heard.withLock { $0 } == [#"online: ["b"]"#])
    }

    @Test func `A watchlist binding that another binding removes during an event is not called anymore`() {
        let rig = rig(.inline(secret: "s", userData: userData))
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

    // Proves P7.8.
    @Test func `The signed-in user is me() on a presence channel authorized without channel data`() {
        let rig = rig(.inline(secret: "s", userData: userData))
        let lobby =
            rig.pusher.subscribe("presence-lobby", auth: PusherAuth(auth: "k:s")) as? PusherPresenceChannel
        rig.pusher.signIn { _ in }
        rig.socket.serverSends(
            #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-lobby","data":{"presence":{"ids":["ann"]}}}"#)
        #expect(lobby?.myID == nil)
        succeed(rig)
        #expect(lobby?.me()?.userID == "ann")
    }
}
