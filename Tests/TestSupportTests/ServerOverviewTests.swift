import Foundation
import PusherChannels
import TestSupport
import Testing

/// The overview of a server for an observer, in the JSON that a page gets.
struct ServerOverviewTests {
    private func overview(_ rig: ServerRig) throws -> (json: JSONValue, text: String) {
        let data = try JSONEncoder().encode(rig.machine.overview(at: rig.now))
        let text = String(decoding: data, as: UTF8.self)
        return (try JSONValue(parsing: text), text)
    }

    private func rig(_ machine: ServerMachine = ServerMachine(socketIDs: ["1.2", "3.4", "5.6"])) -> ServerRig {
        var machine = machine
        machine.recordEvents()
        return ServerRig(machine)
    }

    /// Returns the texts of a list of excerpts.
    private func texts(_ list: JSONValue?) -> [String] {
        list?["items"]?.arrayValue?.compactMap { ($0["name"] ?? $0)["text"]?.stringValue } ?? []
    }

    @Test func `It has connections, users, channels and members, the newest connection first`() throws {
        var rig = rig()
        rig.open(1)
        rig.open(2)
        rig.signIn(2, as: "grace")
        rig.subscribe(1, to: "news")
        rig.subscribe(2, to: "presence-team", as: "grace")
        rig.subscribe(1, to: "presence-team", as: "ada")
        let overview = try overview(rig).json
        #expect(texts(overview["apps"]) == ["local-key"])
        let connections = try #require(overview["connections"]?["items"]?.arrayValue)
        #expect(connections.map { $0["number"]?.integerValue } == [2, 1])
        #expect(connections.map { $0["socketID"]?.stringValue } == ["3.4", "1.2"])
        #expect(connections.map { $0["user"]?["text"]?.stringValue } == ["grace", nil])
        #expect(connections.map { texts($0["channels"]) } == [["presence-team"], ["news", "presence-team"]])
        let channels = try #require(overview["channels"]?["items"]?.arrayValue)
        #expect(texts(overview["channels"]) == ["news", "presence-team"])
        #expect(channels.map { $0["subscribers"]?.integerValue } == [1, 2])
        #expect(channels.map { texts($0["members"]) } == [[], ["grace", "ada"]])
        #expect(channels.first?["members"] == nil)
    }

    @Test func `It has the events of backends and clients, the newest first, and how long ago they were`() throws {
        var rig = rig()
        rig.open(1)
        rig.open(2)
        rig.subscribe(1, to: "private-chat")
        rig.subscribe(2, to: "private-chat")
        rig.publish("private-chat", "headline", "hello")
        rig.now += .milliseconds(1_500)
        rig.receive(#"{"event":"client-typing","channel":"private-chat","data":{"by":"ada"}}"#, from: 2)
        let overview = try overview(rig).json
        let events = try #require(overview["events"]?["items"]?.arrayValue)
        #expect(events.map { $0["name"]?["text"]?.stringValue } == ["client-typing", "headline"])
        #expect(events.map { $0["data"]?["text"]?.stringValue } == [#"{"by":"ada"}"#, "hello"])
        #expect(events.map { $0["sender"]?.integerValue } == [2, nil])
        #expect(events.map { $0["receivers"]?.integerValue } == [1, 2])
        #expect(events.map { $0["age"]?.integerValue } == [0, 1_500])
        #expect(events.map { $0["number"]?.integerValue } == [2, 1])
    }

    @Test func `An encrypted event is shown as it is sent, not as it was written`() throws {
        guard SecretBox.isSupported else { return }
        var rig = rig()
        rig.publish("private-encrypted-orders", "order", "a trout")
        let (overview, text) = try overview(rig)
        #expect(overview["events"]?["total"]?.integerValue == 1)
        #expect(text.contains("ciphertext"))
        #expect(!text.contains("trout"))
    }

    @Test func `There is no secret in it`() throws {
        let app = ServerApp(
            id: "1", key: "local-key", secret: "not-for-browsers", encryptionMasterKey: ServerApp.local.encryptionMasterKey)
        var rig = rig(ServerMachine(apps: [app]))
        rig.open(1)
        rig.subscribe(1, to: "news")
        rig.publish("private-encrypted-orders", "order", "a trout")
        let text = try overview(rig).text
        #expect(!text.contains("not-for-browsers"))
        #expect(!text.contains(ServerApp.local.encryptionMasterKey?.prefix(20) ?? ""))
    }

    @Test func `Nobody who looks on, no events kept`() throws {
        var rig = ServerRig()
        rig.publish("news", "headline", "hello")
        #expect(try overview(rig).json["events"]?["total"]?.integerValue == 0)
        rig.machine.recordEvents()
        rig.publish("news", "headline", "hello")
        #expect(try overview(rig).json["events"]?["total"]?.integerValue == 1)
    }

    @Test func `A long text is cut between characters, and the rest counted`() throws {
        var profile = ServerProfile.hosted
        profile.maximumEventDataLength = 1 << 20
        var rig = rig(ServerMachine(profile: profile))
        rig.publish("news", "headline", "x" + String(repeating: "é", count: 500_000))
        let data = try overview(rig).json["events"]?["items"]?.arrayValue?.first?["data"]
        #expect(data?["text"]?.stringValue == "x" + String(repeating: "é", count: 249))
        #expect(data?["rest"]?.integerValue == 1_000_001 - 499)
    }

    @Test func `Whatever there is of everything, it is short, and says how much more there is`() throws {
        var rig = rig(ServerMachine())
        for number in 1...1_000 { rig.open(number) }
        for number in 1...10_000 { rig.receive(ServerRig.subscription(to: "channel-\(number)"), from: 900 + (number + 99) / 100) }
        let large = String(repeating: "\u{1}", count: 10_000)
        for number in 1...40 { rig.publish("news", "event \(number)", large) }
        let (overview, text) = try overview(rig)
        #expect(text.utf8.count < 200_000)
        #expect(overview["connections"]?["total"]?.integerValue == 1_000)
        let connections = try #require(overview["connections"]?["items"]?.arrayValue)
        #expect(connections.map { $0["number"]?.integerValue } == (951...1_000).reversed().map { $0 })
        #expect(connections.first?["channels"]?["total"]?.integerValue == 100)
        #expect(texts(connections.first?["channels"]).count == 5)
        #expect(overview["channels"]?["total"]?.integerValue == 10_000)
        let names = (1...10_000).map { "channel-\($0)" }.sorted()
        #expect(texts(overview["channels"]) == Array(names.prefix(100)))
        #expect(overview["events"]?["total"]?.integerValue == 40)
        #expect(texts(overview["events"]) == (11...40).reversed().map { "event \($0)" })
    }

    @Test func `Of many members the first are shown`() throws {
        var rig = rig(ServerMachine())
        for number in 1...25 {
            rig.open(number)
            rig.subscribe(number, to: "presence-team", as: "user \(number)")
        }
        let members = try overview(rig).json["channels"]?["items"]?.arrayValue?.first?["members"]
        #expect(members?["total"]?.integerValue == 25)
        #expect(texts(members) == (1...10).map { "user \($0)" })
    }
}
