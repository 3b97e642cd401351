import TestSupport
import Testing

struct TrafficMismatchTests {
    private let rig = TrafficRig()

    @Test func `A mismatch's text lists each entry and field with the expected and the got value`() throws {
        rig.get("https://api.example.com/screen?marcheta=true&v=1")
        rig.post(#"{"items": [{"id": 7}, {"id": "8"}], "total": "2"}"#)
        rig.get("https://ads.example.com/pixel")
        let mismatch = try rig.mismatch(
            #"""
            [
              {"url": "https://api.example.com/screen", "parameters": {"marcheta": "false", "lost": "x"}},
              {"url": "https://api.example.com/events", "body": {"items": [{"id": 7}, {"id": {"$type": "number"}}], "total": 2}},
              {"url": "https://other.example.com/somewhere", "method": "DELETE"}
            ]
            """#)
        #expect(
            mismatch?.description == """
                The traffic is not what \(rig.directory.path)/traffic.json says: 4 differences.

                Entry 1, https://api.example.com/screen
                  parameters.lost
                    expected: "x"
                    got:      nothing
                  parameters.marcheta
                    expected: "false"
                    got:      "true"

                Entry 2, https://api.example.com/events
                  body.items[1].id
                    expected: a number
                    got:      "8"
                  body.total
                    expected: 2
                    got:      "2"
                    (the traffic has it as a text; in quotes, the file would as well)

                Entry 3, DELETE https://other.example.com/somewhere
                  is missing in the traffic

                Number 3 in the traffic, GET https://ads.example.com/pixel
                  is not in the file
                """)
    }

    @Test func `An entry out of order is described with both positions`() {
        let mismatch = TrafficMismatch([.moved(position: 1, entry: "sent pusher:ping", came: 3)])
        #expect(mismatch.description.contains("Entry 1, sent pusher:ping\n  came out of order, as number 3"))
        #expect(mismatch.description.hasPrefix("The traffic is not what the file says: 1 difference."))
    }

    @Test func `Long values in a mismatch's text are cut`() throws {
        rig.post(#"{"a": "\#(String(repeating: "x", count: 5_000))"}"#)
        let text = try #require(try rig.mismatch(#"[{"url": "https://api.example.com/events", "body": {"a": 1}}]"#)).description
        #expect(text.count < 1_000)
        #expect(text.contains("… (5002 characters)"))
    }
}
