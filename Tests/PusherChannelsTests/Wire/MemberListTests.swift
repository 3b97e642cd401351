import Testing

@testable import PusherChannels

@Suite struct MemberListTests {
    private func member(_ id: String, _ info: JSONValue? = nil) -> PresenceMember {
        PresenceMember(userID: Name(id), info: info.map { JSONText($0) })
    }

    @Test(arguments: 1...8)
    func `A member list agrees with a dictionary and an ordered array after any operations`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var list = MemberList()
        var order: [Name] = []
        for step in 0..<4_000 {
            let id = Name("user-\(Int.random(in: 0..<300, using: &random))")
            if Bool.random(using: &random) {
                let isNew = list.update(member(id.text, .integer(step)))
                #expect(isNew == !order.contains(id))
                if isNew { order.append(id) }
            } else {
                let removed = list.remove(id)
                #expect((removed != nil) == order.contains(id))
                order.removeAll { $0 == id }
            }
            guard list.count == order.count, (list[id] != nil) == order.contains(id) else {
                Issue.record("step \(step): \(id)")
                return
            }
        }
        #expect(list.members.map(\.userID) == order)
    }

    @Test func `Members that come and go leave nothing behind in the list`() {
        var list = MemberList()
        for number in 0..<100_000 {
            list.insert(Name("\(number)"))
            if number >= 10 { _ = list.remove(Name("\(number - 10)")) }
        }
        #expect(list.members.map(\.userID.text) == (99_990..<100_000).map { "\($0)" })
        #expect(list.capacity <= 64)
    }

    @Test func `Member infos are equal if their JSON values are, however they are written`() {
        #expect(JSONText(wellFormed: #"{"a":1,"b":2}"#) == JSONText(wellFormed: #"{ "b": 2, "a": 1 }"#))
        #expect(JSONText(wellFormed: "1") != JSONText(wellFormed: "2"))
        #expect(JSONText(["n": "Bob"]).value == ["n": "Bob"])
    }
}
