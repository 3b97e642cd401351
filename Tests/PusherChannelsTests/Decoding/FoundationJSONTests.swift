import Foundation
import Testing

@testable import PusherChannels

/// What others send never reaches a parser of Foundation that would end the program.
@Suite struct FoundationJSONTests {
    private struct Count: Decodable, Equatable {
        let n: Int
    }

    private func event(_ data: String, _ decoder: EventDecoder? = nil) -> PusherEvent {
        PusherEvent(envelope: Envelope(event: "e", data: data, extra: ["member": data]), decoder: decoder)
    }

    private func count(_ data: String, isJSON5: Bool = false) throws -> Count {
        let decoder = EventDecoder {
            let decoder = JSONDecoder()
            decoder.allowsJSON5 = isJSON5
            return decoder
        }
        return try event(data, decoder).decode()
    }

    @Test func `One half of a surrogate pair is a replacement character for JSONSerialization, too`() {
        let text = #"{"n":10,"name":"Ann\ud83d"}"#
        let member = PusherPresenceChannelMember(PresenceMember(userID: Name("ann"), info: JSONText(wellFormed: text)))
        let found = [member.userInfo, event(text).property(withKey: "member")].map { $0 as? [String: Any] }
        #expect(found.map { $0?["name"] as? String } == ["Ann\u{FFFD}", "Ann\u{FFFD}"])
        #expect(found.map { $0?["n"] as? Double } == [10, 10])
    }

    /// Foundation ends the program for these numbers.
    @Test(arguments: ["1" + String(repeating: "0", count: 300) + "e-284", "0." + String(repeating: "0", count: 129) + "1e146"])
    func `A number that ends Foundation's parsers isn't given to them, whatever reads it`(number: String) throws {
        #expect(throws: DecodingError.self) { try count(#"{"n":\#(number)}"#) }
        #expect(throws: DecodingError.self) { try count(#"{"a":"\\","n":\#(number)}"#) }
        #expect(throws: DecodingError.self) { try count("{'a':'\"','n':\(number)}", isJSON5: true) }
        let utf16: [UInt8] = #"{"n":\#(number)}"#.utf8.flatMap { [0, $0] as [UInt8] }
        #expect(throws: DecodingError.self) { try count(String(decoding: utf16, as: UTF8.self)) }
        #expect(event("[\(number)]").property(withKey: "member") == nil)
        let member = PusherPresenceChannelMember(
            PresenceMember(userID: Name("ann"), info: JSONText(try JSONValue(parsing: #"{"n":\#(number)}"#))))
        #expect(member.userInfo == nil)
        #expect(throws: DecodingError.self) { try member.decodeUserInfo(as: Count.self) }
        #expect(throws: DecodingError.self) { try member.decodeUserInfo(as: Count.self, with: JSONDecoder()) }
    }

    @Test func `A decoder of the application gets texts with any number of digits in strings`() throws {
        let digits = String(repeating: "7", count: 101)
        for data in [#"{"s":"\#(digits)","n":7}"#, #"{"s":"\"\#(digits)\\","n":7}"#, #"{"s":[\#(digits.dropLast()),7],"n":7}"#] {
            #expect(try count(data) == Count(n: 7))
            #expect((event(data).property(withKey: "member") as? [String: Any])?["n"] as? Int == 7)
        }
        let member = PusherPresenceChannelMember(userID: "ann", userInfo: ["n": 7])
        #expect(try member.decodeUserInfo(as: Count.self, with: JSONDecoder()) == member.decodeUserInfo())
    }
}
