import Testing

@testable import PusherChannels

@Suite struct JSONRawMemberTests {
    @Test(arguments: [
        (#"{"a":1}"#, "1"),
        (#" { "b" : 0 , "a" : [ 1, {"a":2} ] } "#, "[ 1, {\"a\":2} ]"),
        (#"{"a":"x\u0041\n"}"#, #""x\u0041\n""#),
        (#"{"\u0061":null}"#, "null"),
        (#"{"a":1,"b":2,"a":3}"#, "3"),
        (#"{"a":1.50e0}"#, "1.50e0"),
    ])
    func memberIsAsItStands(text: String, member: String) {
        #expect(rawJSONMember("a", of: text) == member)
    }

    @Test(arguments: ["{}", #"{"b":1}"#, #"{"b":{"a":1}}"#, #"{"A":1}"#])
    func objectWithoutItHasNone(text: String) {
        #expect(rawJSONMember("a", of: text) == nil)
    }

    @Test(arguments: [
        "", "null", "1", "\"a\"", "[{\"a\":1}]", #"{"a":1"#, #"{"a":1,"#, #"{"a":1,}"#, #"{"a":1} x"#, #"{"a":1}}"#,
        #"{"a":1,"b"}"#,
        #"{"a":1 "b":2}"#, #"{"a":01}"#, #"{a:1}"#,
    ])
    func whatIsNoObjectHasNone(text: String) {
        #expect(rawJSONMember("a", of: text) == nil)
    }

    @Test func absurdDepthHasNone() {
        #expect(rawJSONMember("a", of: "{\"a\":" + String(repeating: "[", count: 100_000)) == nil)
    }
}
