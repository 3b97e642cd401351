import Foundation
import TestSupport
import Testing

struct ServerSignInTests {
    @Test func `A signed user is signed in once, and a second sign-in is an error`() {
        var rig = ServerRig(open: 1)
        rig.signIn(1, as: "ann")
        #expect(rig.sent == [#"1: {"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"ann\"}"}}"#])
        #expect(rig.effects.last == .notice(.signedIn(.init(1), userID: "ann")))
        rig.signIn(1, as: "ann")
        #expect(rig.error?.message == "Connection is already signed in")
    }

    @Test(arguments: [
        #"{"auth":"local-key:00","user_data":"{\"id\":\"ann\"}"}"#, #"{"user_data":"{\"id\":\"ann\"}"}"#, #"{"auth":"x"}"#, "{}",
        #""text""#, "null",
    ])
    func `A sign-in without a valid signature is refused with 4009`(data: String) {
        var rig = ServerRig(open: 1)
        rig.receive(#"{"event":"pusher:signin","data":\#(data)}"#, from: 1)
        #expect(rig.error?.code == 4009)
        #expect(rig.closes.isEmpty)
    }

    @Test(arguments: ["{}", #"{"id":""}"#, "[]", "no JSON", #"{"id":null}"#])
    func `A signed user without an id is refused with 4009`(userData: String) {
        var rig = ServerRig(open: 1)
        rig.signIn(1, userData: userData)
        #expect(rig.error?.code == 4009)
    }

    @Test func `The soketi profile closes the connection after a refused sign-in`() {
        var rig = ServerRig(.soketi, open: 1)
        rig.receive(#"{"event":"pusher:signin","data":{}}"#, from: 1)
        #expect(rig.error?.code == 4009)
        #expect(rig.closes == ["1: 4009 "])
    }

    @Test func `Only the signed-in user may subscribe to the user's own channel`() {
        var rig = ServerRig(open: 2)
        rig.signIn(1, as: "ann")
        for (number, user, status) in [(1, "ann", nil), (1, "bob", 401), (2, "ann", 401)] {
            rig.receive(ServerRig.subscription(to: "#server-to-user-\(user)"), from: number)
            #expect(rig.subscriptionError?.status == status)
        }
        #expect(rig.machine.subscribers(of: "#server-to-user-ann") == [.init(1)])
    }

    // MARK: Watchlists

    private func online(_ ids: String, to connection: Int, _ event: String = "online") -> String {
        #"\#(connection): {"event":"pusher_internal:watchlist_events","data":"{\"events\":[{\"name\":\"\#(event)\",\"user_ids\":[\#(ids)]}]}"}"#
    }

    @Test func `A watchlist reports which users are online, come online, and go offline`() {
        var rig = ServerRig(open: 3)
        rig.signIn(1, as: "ann", watchlist: ["bob", "cid"])
        #expect(rig.sent.count == 1, "nobody is there yet")
        rig.signIn(2, as: "bob")
        #expect(rig.sent.dropFirst() == [online(#"\"bob\""#, to: 1)])
        rig.signIn(3, as: "bob", watchlist: ["ann", "cid"])
        #expect(rig.sent.dropFirst() == [online(#"\"ann\""#, to: 3)], "a second connection is no news for the others")
        rig.handle(.closed(.init(2)))
        #expect(rig.sent.isEmpty)
        rig.handle(.closed(.init(3)))
        #expect(rig.sent == [online(#"\"bob\""#, to: 1, "offline")])
    }

    @Test func `A profile sends watchlist events as plain events, or not at all`() {
        for (profile, events) in [
            (ServerProfile.sockudo, [#"1: {"event":"online","data":{"user_ids":["bob"]}}"#]), (.soketi, []),
        ] {
            var rig = ServerRig(profile, open: 2)
            rig.signIn(1, as: "ann", watchlist: ["bob"])
            rig.signIn(2, as: "bob")
            #expect(rig.sent.dropFirst() == events[...])
        }
    }

    @Test func `A watchlist's first hundred users count, and a longer one gets error 4302`() {
        var rig = ServerRig(open: 2)
        rig.signIn(1, as: "ann", watchlist: (0...100).map { "user-\($0)" })
        #expect(rig.sent.first?.contains("signin_success") == true)
        #expect(rig.error?.code == 4302)
        rig.signIn(2, as: "user-100")
        #expect(rig.sent.count == 1)
    }

    // MARK: Termination

    @Test func `The HTTP API terminates all connections of a user and no others`() {
        var rig = ServerRig(open: 3)
        for (number, user) in [(1, "ann"), (2, "ann"), (3, "bob")] { rig.signIn(number, as: user) }
        #expect(rig.post("{}", to: "users/ann/terminate_connections").status == 200)
        #expect(rig.closes == ["1: 4009 Terminated by app", "2: 4009 Terminated by app"])
        #expect(rig.machine.openConnections.map(\.id) == [.init(3)])
    }

    @Test func `A connection that was never authorized is closed after the app's timeout`() {
        var rig = ServerRig(.hosted, open: 3, app: { $0.authorizationTimeout = .seconds(30) })
        rig.signIn(1, as: "ann")
        rig.subscribe(2, to: "private-a")
        rig.unsubscribe(2, from: "private-a")
        #expect(rig.machine.nextDeadline == .seconds(30))
        rig.wait(until: .seconds(30))
        #expect(rig.error?.code == 4009)
        #expect(rig.closes == ["3: 4009 Connection not authorized within timeout"])
    }

    // MARK: The endpoint

    private func reply(_ form: String, app: ServerApp = .local) -> StubResponse {
        var rig = ServerRig(ServerMachine(apps: [app]))
        return rig.authorize(form, at: "/pusher/user-auth")
    }

    @Test func `The user auth endpoint signs the user data from the form`() throws {
        let reply = try JSONValue(parsing: reply("socket_id=1.2&user_id=u1&watchlist=%5B%22a%22%5D").text)
        #expect(reply["user_data"] == .string(#"{"id":"u1","watchlist":["a"]}"#))
        let app = ServerApp(id: "1", key: "key", secret: "s3cret")
        let signed = try JSONValue(parsing: self.reply("socket_id=1.2&user_id=u1", app: app).text)
        #expect(signed["auth"] == "key:610b390391c3de840d4b39f9b42249cf3022208a98790f960c025e449ade0584")
    }

    @Test(arguments: [("", 400), ("socket_id=x", 400), ("socket_id=1.2&user_info=%7B", 400), ("socket_id=1.2&user_id=eve", 403)])
    func `The user auth endpoint refuses invalid forms with 400 and denied users with 403`(form: String, status: Int) {
        var app = ServerApp.local
        app.deniedUsers = ["eve"]
        #expect(reply(form, app: app).status == status)
    }
}
