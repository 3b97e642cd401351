import Foundation
import Logging
import TestSupport
import Testing

/// The loggers and signers that a harness provides to the code under test, and the comparison of received events.
@Suite struct HarnessDoubleTests {
    @Test func `A harness's logger logs into its own harness only, with metadata`() throws {
        let (first, second) = (TestHarness(), TestHarness())
        var logger = first.makeLogger("orders")
        logger[metadataKey: "user"] = "ann"
        logger.warning("order is late", metadata: ["id": "7"])
        logger.debug("asking")
        second.makeLogger("orders").error("lost")
        #expect(first.logEvents(atLeast: .warning).map { "\($0.message)" } == ["order is late"])
        #expect(first.logEvents().first?.metadata == ["user": "ann", "id": "7"])
        #expect(first.logEvents().count == 2)
        #expect(second.logEvents().map(\.level) == [.error])
        #expect(first.timeline.entries.map(\.text) == ["warning: order is late id=7", "debug: asking"])
        for harness in [first, second] { try harness.verify() }
    }

    @Test func `Recorded events are equal if their data is the same JSON`() throws {
        typealias Notification = RecordingDelegate.Notification
        #expect(Notification.event("e", data: #"{"a":1,"b":[1.0,null]}"#) == .event("e", data: #"{ "b": [1, null], "a": 1 }"#))
        #expect(Notification.event("e", data: #"{"a":1}"#) != .event("e", data: #"{"a":1,"b":2}"#))
        #expect(Notification.event("e", data: #"{"a":1}"#) != .event("e", data: nil))
        #expect(Notification.event("e", data: "text") != .event("e", data: "other"))
        #expect(Notification.event("e", channel: "c", data: "1") != .event("e", channel: "d", data: "1"))
        #expect(Notification.event("e") != .subscribed(channel: "e"))
        #expect(Notification.event("e", userID: "1") != .event("e", userID: "2"))
        #expect(Notification.subscribed(channel: "c") == .subscribed(channel: "c"))
        // The same characters in other bytes.
        #expect(Notification.subscribed(channel: "caf\u{E9}") != .subscribed(channel: "cafe\u{301}"))
        #expect(Notification.event("e", channel: "caf\u{E9}") != .event("e", channel: "cafe\u{301}"))
        #expect(
            Notification.failedToSubscribe(channel: "c", error: nil, status: 403) != .failedToSubscribe(channel: "c", error: nil))
    }

    @Test func `Long values in the differences between JSON texts are cut`() {
        let long = #"{"a": "\#(String(repeating: "x", count: 5_000))"}"#
        for (data, expected) in [(long, #"{"a": 1}"#), (#"{"a": 1}"#, long)] {
            let differences = differencesInJSON(data, from: expected).joined()
            #expect(differences.count < 400)
            #expect(differences.contains("… (5002 characters)"))
        }
    }

    @Test func `Differences between JSON texts name their place`() {
        #expect(differencesInJSON(#"{"id":7,"by":"ann","more":1}"#, from: #"{"by":"ann","id":7}"#) == [])
        #expect(differencesInJSON(#"{"id":8}"#, from: #"{"by":"ann","id":7}"#) == ["data.by is missing", "data.id is 8, not 7"])
        #expect(differencesInJSON(nil, from: "1") == ["data is no JSON"])
        let (id, other) = ("12345678901234567890", "12345678901234567800")
        #expect(differencesInJSON(id, from: other) == ["data is \(id), not \(other)"])
        #expect(differencesInJSON("[1.0, 1e2]", from: "[1, 100]") == [])
        #expect(differencesInJSON("1", from: "{") == ["what is expected can't be read as JSON: {"])
    }
}
