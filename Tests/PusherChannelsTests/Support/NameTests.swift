import Testing

@testable import PusherChannels

@Suite struct NameTests {
    // Proves P2.10.
    @Test func `Names in different Unicode normal forms are different`() {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        #expect(composed == decomposed, "as Swift has it")
        #expect(Name(composed) != Name(decomposed))
        #expect(Set([Name(composed), Name(decomposed), Name(composed)]).count == 2)
    }

    @Test(arguments: ["", "a", "room", "a name that is too long to be stored within a string", "🙂", "a\0b"])
    func `A name keeps its text and equals only a name with the same text`(text: String) {
        #expect(Name(text) == Name(text))
        #expect(Name(text).text == text)
        #expect("\(Name(text))" == text)
        #expect(Name(text) != Name(text + "x"))
    }

    @Test func `Different names with the same digest are different`() {
        let one = Name("one")
        let two = Array("two".utf8).withUnsafeBytes { Name(utf8: $0, digest: one.digest) }
        #expect(two.digest == one.digest && two != one)
        #expect(Set([one, two]).count == 2)
    }

    @Test func `Names are ordered by their bytes`() {
        let names: [Name] = ["b", "a", "é", "e\u{301}", "B", ""]
        #expect(names.sorted().map(\.text) == ["", "B", "a", "b", "e\u{301}", "é"])
    }

    @Test func `The prefix of a name is compared by bytes, not by characters`() {
        #expect(Name("pusher:ping").begins(with: "pusher:"))
        #expect(Name("pusher:\u{301}").begins(with: "pusher:"), "to Swift this colon is another character")
        #expect(!Name("pushe").begins(with: "pusher"))
        #expect(Name("online").equals("online"))
        #expect(!Name("online\u{301}").equals("online"))
    }

    private func name(_ table: inout NameTable, _ text: String) -> Name {
        Array(text.utf8).withUnsafeBytes { table.name($0) }
    }

    @Test func `The name table gives each text's own name, even with thousands of texts`() {
        var table = NameTable()
        let texts = (0..<5_000).map { "channel-\($0)" }
        for _ in 0..<3 { #expect(texts.allSatisfy { name(&table, $0) == Name($0) }) }
    }

    @Test func `The name table stays small whatever names come, and doesn't remember long ones`() {
        var table = NameTable()
        for number in 0..<200_000 { _ = name(&table, "\(number)") }
        #expect(table.capacity <= 1 << 14)
        let long = String(repeating: "x", count: 300)
        #expect(name(&table, long).text == long)
        #expect(!table.remembers(Name(long)), "who sends long names would fill the memory with them")
    }
}
