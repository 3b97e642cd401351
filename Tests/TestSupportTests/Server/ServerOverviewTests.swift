import Foundation
import TestSupport
import Testing

/// The overview of a server for an observer, in the JSON that a page gets.
struct ServerOverviewTests {
    private func overview(
        _ rig: ServerRig, _ view: ServerOverview.View = ServerOverview.View()
    ) throws -> (json: JSONValue, text: String) {
        let data = try JSONEncoder().encode(rig.machine.overview(view, at: rig.now))
        let text = String(decoding: data, as: UTF8.self)
        return (try JSONValue(parsing: text), text)
    }

    private func rig(open count: Int = 0, changing change: (inout ServerProfile) -> Void = { _ in }) -> ServerRig {
        var rig = ServerRig(.hosted, changing: change)
        rig.machine.recordEvents()
        for number in 0..<count { rig.open(number + 1) }
        return rig
    }

    private func items(_ list: JSONValue?) -> [JSONValue] { list?["items"]?.arrayValue ?? [] }

    /// Returns the texts of a list of excerpts.
    private func texts(_ list: JSONValue?) -> [String] {
        items(list).compactMap { ($0["name"] ?? $0)["text"]?.stringValue }
    }

    private func numbers(_ list: JSONValue?) -> [Int?] { items(list).map { $0["number"]?.integerValue } }

    @Test func `The overview has connections, users, channels, and members, newest connection first`() throws {
        var rig = rig(open: 2)
        rig.signIn(2, as: "grace")
        rig.subscribe(1, to: "news")
        rig.subscribe(2, to: "presence-team", as: "grace")
        rig.subscribe(1, to: "presence-team", as: "ada")
        let overview = try overview(rig).json
        #expect(texts(overview["apps"]) == ["local-key"])
        let connections = items(overview["connections"])
        #expect(numbers(overview["connections"]) == [2, 1])
        #expect(connections.map { $0["socketID"]?.stringValue } == ["3.4", "1.2"])
        #expect(connections.map { $0["user"]?["text"]?.stringValue } == ["grace", "ada"])
        #expect(connections.map { texts($0["channels"]) } == [["presence-team"], ["news", "presence-team"]])
        let channels = items(overview["channels"])
        #expect(texts(overview["channels"]) == ["news", "presence-team"])
        #expect(channels.map { $0["subscribers"]?.integerValue } == [1, 2])
        #expect(channels.map { texts($0["members"]) } == [[], ["grace", "ada"]])
        #expect(channels.first?["members"] == nil)
    }

    /// Returns log entries as `4 subscribed connection 1 news (ada)`.
    private func lines(_ log: JSONValue?) -> [String] {
        items(log).map { entry in
            let words: [String?] = [
                entry["number"]?.integerValue.map { "\($0)" }, entry["kind"]?.stringValue,
                entry["connection"]?.integerValue.map { "connection \($0)" }, entry["channel"]?["text"]?.stringValue,
                entry["text"]?["text"]?.stringValue.map { "(\($0))" },
            ]
            return words.compactMap(\.self).joined(separator: " ")
        }
    }

    @Test func `The overview's log has events with data, receivers, and age, newest first`() throws {
        var rig = rig(open: 2)
        for number in 1...2 { rig.subscribe(number, to: "private-chat") }
        let before = try overview(rig).json["log"]?["total"]?.integerValue ?? 0
        rig.publish("private-chat", "headline", "hello")
        rig.now += .milliseconds(1_500)
        rig.receive(#"{"event":"client-typing","channel":"private-chat","data":{"by":"ada"}}"#, from: 2)
        let log = try overview(rig, ServerOverview.View(lastEntry: before)).json["log"]
        #expect(lines(log) == ["7 event connection 2 private-chat", "6 event private-chat"])
        let events = items(log)
        #expect(texts(log) == ["client-typing", "headline"])
        #expect(events.map { $0["data"]?["text"]?.stringValue } == [#"{"by":"ada"}"#, "hello"])
        #expect(events.map { $0["receivers"]?.integerValue } == [1, 2])
        #expect(events.map { $0["age"]?.integerValue } == [0, 1_500])
        #expect(events.map { $0["encryption"] } == [nil, nil])
    }

    @Test func `The overview's log has connections, subscriptions, channel changes, and refusals`() throws {
        var rig = rig(open: 2)
        rig.open(3, path: "/app/other?protocol=7")
        rig.subscribe(1, to: "presence-team", as: "ada")
        rig.subscribe(2, to: "presence-team", as: "grace")
        rig.receive(ServerRig.subscription(to: "no channel"), from: 1)
        rig.unsubscribe(1, from: "presence-team")
        rig.receive("{}", from: 1)
        rig.handle(.closed(ServerRig.ID(2)))
        #expect(
            lines(try overview(rig).json["log"]).reversed() == [
                "1 connected connection 1 (1.2)", "2 connected connection 2 (3.4)",
                "3 refused connection 3 (App key other not in this cluster)",
                "4 subscribed connection 1 presence-team (ada)", "5 occupied presence-team",
                "6 subscribed connection 2 presence-team (grace)",
                "7 refused connection 1 no channel (Invalid channel name: no channel)",
                "8 unsubscribed connection 1 presence-team (ada)", "9 refused connection 1 (Message without an event)",
                "10 unsubscribed connection 2 presence-team (grace)", "11 vacated presence-team",
                "12 disconnected connection 2",
            ])
        let latest = try overview(rig, ServerOverview.View(lastEntry: 10)).json["log"]
        #expect(lines(latest) == ["12 disconnected connection 2", "11 vacated presence-team"])
        #expect(try overview(rig).json["channels"]?["total"]?.integerValue == 0)
    }

    @Test func `The overview's log keeps its events while many clients come and go`() throws {
        var rig = rig()
        rig.publish("news", "headline", "hello")
        for number in 1...300 { rig.open(number) }
        let log = lines(try overview(rig).json["log"])
        #expect(log.count == 201)
        #expect(log.last == "1 event news")
    }

    @Test func `The overview decrypts only events that were encrypted with the app's master key`() throws {
        guard SecretBox.isSupported else { return }
        var rig = rig()
        rig.publish("private-encrypted-orders", "order", "a trout")
        let foreign = try #require(
            EncryptedEvent.encrypt("a salmon", with: [UInt8](repeating: 7, count: 32), nonce: [UInt8](repeating: 0, count: 24)))
        let trigger: JSONValue = ["name": "order", "channel": "private-encrypted-orders", "data": .string(foreign)]
        rig.post(trigger.text)
        let (overview, text) = try overview(rig)
        let events = items(overview["log"])
        #expect(events.map { $0["encryption"]?.stringValue } == ["unreadable", "decrypted"])
        #expect(events.map { $0["data"]?["text"]?.stringValue } == [foreign, "a trout"])
        #expect(!text.contains("salmon"))
        #expect(!rig.sent.joined().contains("trout"))
    }

    @Test func `The overview sorts numbers in names by value`() throws {
        var rig = rig(open: 1)
        let sorted = [
            "Room-3", "room-", "room-1-9", "room-1-10", "room-02", "room-2", "room-10", "room-99999999999999999999", "room-x",
        ]
        for place in [6, 5, 4, 8, 2, 3, 1, 7, 0] { rig.subscribe(1, to: sorted[place]) }
        let overview = try overview(rig).json
        #expect(texts(overview["channels"]) == sorted)
        #expect(texts(items(overview["connections"]).first?["channels"]) == Array(sorted.prefix(5)))
    }

    @Test func `The overview's channels and connections can be paged, searched, and sorted by size`() throws {
        var rig = rig(open: 120)
        for number in 1...120 {
            rig.receive(ServerRig.subscription(to: "channel-\(number)"), from: number)
            rig.receive(ServerRig.subscription(to: "channel-\(number % 3 + 1)"), from: number)
        }
        func channels(_ part: ServerOverview.View.Part, isBySize: Bool = false) throws -> JSONValue? {
            try overview(rig, ServerOverview.View(channels: part, isBySize: isBySize)).json["channels"]
        }
        func connections(_ part: ServerOverview.View.Part) throws -> JSONValue? {
            try overview(rig, ServerOverview.View(connections: part)).json["connections"]
        }
        #expect(texts(try channels(.init(start: 100))) == (101...120).map { "channel-\($0)" })
        #expect(try channels(.init(start: .max))?["start"]?.integerValue == 100)
        #expect(try channels(.init(start: .min))?["start"]?.integerValue == 0)
        #expect(texts(try channels(.init(search: "EL-12"))) == ["channel-12", "channel-120"])
        #expect(texts(try channels(.init(search: "Connection 7"))) == ["channel-2", "channel-7"])
        #expect(texts(try channels(.init(), isBySize: true)).prefix(4) == ["channel-1", "channel-2", "channel-3", "channel-4"])
        let none = try channels(.init(search: "nowhere", start: 100))
        #expect([none?["total"], none?["found"], none?["start"]].map { $0?.integerValue } == [120, 0, 0])
        #expect(numbers(try connections(.init(start: 100))) == (1...20).reversed().map { $0 })
        #expect(numbers(try connections(.init(search: "channel-12"))) == [12])
        #expect(numbers(try connections(.init(search: "connection 5"))) == [5])
        let socketID = items(try connections(.init())).first?["socketID"]?.stringValue
        #expect(numbers(try connections(.init(search: try #require(socketID)))) == [120])
    }

    @Test func `The overview's search finds a connection by its users and channels`() throws {
        var rig = rig(open: 2)
        rig.subscribe(1, to: "presence-team", as: "ada")
        rig.signIn(2, as: "grace")
        for (search, users) in [
            ("", ["grace", "ada"]), ("DA", ["ada"]), ("race", ["grace"]), ("presence-team", ["ada"]), ("presence", []),
        ] {
            let found = try overview(rig, ServerOverview.View(connections: .init(search: search))).json["connections"]
            #expect(items(found).compactMap { $0["user"]?["text"]?.stringValue } == users, "\(search)")
        }
    }

    @Test func `The overview contains no app secret and no master key`() throws {
        var rig = rig(open: 1)
        rig.subscribe(1, to: "news")
        rig.publish("private-encrypted-orders", "order", "a trout")
        let text = try overview(rig).text
        #expect(!text.contains("local-secret"))
        #expect(!text.contains(ServerApp.local.encryptionMasterKey?.prefix(20) ?? ""))
    }

    @Test func `A server keeps events for the overview only after recording is turned on`() throws {
        var rig = ServerRig()
        rig.publish("news", "headline", "hello")
        #expect(try overview(rig).json["log"]?["total"]?.integerValue == 0)
        rig.machine.recordEvents()
        rig.publish("news", "headline", "hello")
        #expect(try overview(rig).json["log"]?["total"]?.integerValue == 1)
    }

    @Test func `The overview shows channel names in full`() throws {
        var rig = rig(open: 1)
        let names = ["a", "b"].map { String(repeating: "x", count: 163) + $0 }
        for name in names { rig.subscribe(1, to: name) }
        #expect(texts(try overview(rig).json["channels"]) == names)
    }

    @Test func `The overview cuts long event data between characters and counts the rest`() throws {
        var rig = rig { $0.maximumEventDataLength = 1 << 20 }
        rig.publish("news", "headline", "x" + String(repeating: "é", count: 500_000))
        let data = items(try overview(rig).json["log"]).first?["data"]
        #expect(data?["text"]?.stringValue == "x" + String(repeating: "é", count: 249))
        #expect(data?["rest"]?.integerValue == 1_000_001 - 499)
    }

    @Test func `The overview stays short at any load and has the totals of what it leaves out`() throws {
        var rig = rig(open: 1_000)
        for number in 1...10_000 { rig.receive(ServerRig.subscription(to: "channel-\(number)"), from: 900 + (number + 99) / 100) }
        let large = String(repeating: "\u{1}", count: 10_000)
        for number in 1...140 { rig.publish("news", "event \(number)", large) }
        let (overview, text) = try overview(rig)
        #expect(text.utf8.count < 500_000)
        #expect(overview["connections"]?["total"]?.integerValue == 1_000)
        #expect(numbers(overview["connections"]) == (951...1_000).reversed().map { $0 })
        let channels = items(overview["connections"]).first?["channels"]
        #expect(channels?["total"]?.integerValue == 100)
        #expect(texts(channels).count == 5)
        #expect(overview["channels"]?["total"]?.integerValue == 10_000)
        #expect(texts(overview["channels"]) == (1...100).map { "channel-\($0)" })
        #expect(overview["log"]?["total"]?.integerValue == 1_000 + 20_000 + 140)
        #expect(texts(overview["log"]) == (41...140).reversed().map { "event \($0)" })
    }

    @Test func `The overview shows the first ten members of a channel and their total`() throws {
        var rig = rig(open: 25)
        for number in 1...25 { rig.subscribe(number, to: "presence-team", as: "user \(number)") }
        let members = items(try overview(rig).json["channels"]).first?["members"]
        #expect(members?["total"]?.integerValue == 25)
        #expect(texts(members) == (1...10).map { "user \($0)" })
    }
}
