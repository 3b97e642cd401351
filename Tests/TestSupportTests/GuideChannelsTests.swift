import Foundation
import TestSupport
import Testing

/// The snippets of the guide's chapter about channels, word for word.
@Suite struct GuideChannelsTests {
    @Test func `A presence channel's members follow joins and leaves`() throws {
        try withTestHarness { harness in
            let ann = harness.makePusher { $0.authMethod = .authorizer(authorizer: Signer(userID: "ann")) }
            let bob = harness.makePusher { $0.authMethod = .authorizer(authorizer: Signer(userID: "bob")) }
            let lobby = ann.subscribeToPresenceChannel(channelName: "presence-lobby")
            bob.subscribe("presence-lobby")
            ann.connect()
            #expect(lobby.members.map(\.userID) == ["ann"])
            bob.connect()
            #expect(lobby.members.map(\.userID).sorted() == ["ann", "bob"])
            bob.disconnect()
            #expect(lobby["bob"] == nil)
        }
    }

    @Test func `Encrypted events are decrypted or reported as failed`() throws {
        try withTestHarness { harness in
            let socket = harness.makeWebSocket()
            let pusher = harness.makePusher(socket: socket)
            let recorder = RecordingDelegate(of: pusher)
            let name = "private-encrypted-orders"
            pusher.subscribe(name)
            pusher.connect()
            harness.server.publish(channel: name, event: "placed", data: #"{"id":7}"#)
            #expect(recorder.notifications.last == .event("placed", channel: name, data: #"{"id":7}"#))
            socket.serverSendsEvent("placed", channel: name, data: "plain text")
            #expect(recorder.notifications.contains(.failedToDecrypt("placed", channel: name, data: "plain text")))
        }
    }

    @Test func `A refused channel can be subscribed to again`() throws {
        try withTestHarness { harness in
            harness.session.stub("POST /pusher/auth", .http(403)).times(1)
            let pusher = harness.makePusher()
            let recorder = RecordingDelegate(of: pusher)
            let room = pusher.subscribe("private-room")
            pusher.connect()
            harness.scheduler.advance(by: .seconds(60))
            #expect(room.hasFailed)
            #expect(recorder.notifications.last?.failure?.code == 403)
            pusher.subscribe("private-room")
            #expect(room.subscribed)
        }
    }

    actor Orders {
        private(set) var all: [Int] = []

        func place(_ order: Int) { all.append(order) }
        func replace(_ all: [Int]) { self.all = all }
    }

    @Test func `A followed copy is complete after a restart`() async throws {
        try await withTestHarness { harness in
            let (backend, copy) = (Orders(), Orders())
            await backend.place(1)
            let pusher = harness.makePusher()
            let orders = pusher.follow("private-orders") { await backend.all }
            let service = Task {
                for try await step in orders {
                    if case .state(let all, _) = step { await copy.replace(all) }
                }
            }
            pusher.connect()
            try await harness.eventually("there is a copy") { await copy.all == [1] }
            harness.server.shutdown()
            await backend.place(2)
            try await harness.eventually("it has the second order") { await copy.all == [1, 2] }
            service.cancel()
            _ = await service.result
        }
    }
}
