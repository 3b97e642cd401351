import Foundation
import PusherChannels
import TestSupport
import Testing

@Suite struct RefusedArgumentTests {
    typealias Refusal = RefusedCall<PusherHTTPAPI>

    private static func trigger(
        _ channels: [String] = ["a"], name: String = "e", data: String = "", excluding: String? = nil
    ) -> @Sendable (PusherHTTPAPI) async throws -> Void {
        { try await $0.trigger(channels: channels, eventName: name, data: data, excluding: excluding) }
    }

    private static func batch(_ count: Int) -> [PusherBatchEvent] {
        Array(repeating: PusherBatchEvent(channel: "a", eventName: "e", data: ""), count: count)
    }

    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    /// ``ErrorCatalogTests`` has others, with their whole messages.
    static let refusals: [Refusal] = [
        Refusal("parameters whose names differ in case alone can't be signed") {
            _ = try await $0.get("/x", parameters: ["a": "1", "A": "2"])
        },
        Refusal(#"a channel name can't be empty: """#, trigger(["a", ""])),
        Refusal("a channel name can't be longer than 200 characters, this one has 201", trigger([text(201)])),
        Refusal(#"a channel name can't contain " ""#, trigger(["a b"])),
        Refusal(##"a channel name can't contain "#""##, trigger(["#server-to-user-ann"])),
        Refusal(#"a channel name can't contain "é""#, trigger(["é"])),
        Refusal("an event name can't be longer than 200 characters, this one has 201", trigger(name: text(201))),
        Refusal(#""1" isn't a socket id"#, trigger(excluding: "1")),
        Refusal(#""1.2.3" isn't a socket id"#, trigger(excluding: "1.2.3")),
        Refusal(#""1.x" isn't a socket id"#, trigger(excluding: "1.x")),
        Refusal(#"".2" isn't a socket id"#, trigger(excluding: ".2")),
        Refusal(#""1.2\u{a}" isn't a socket id"#, trigger(excluding: "1.2\n")),
        Refusal("a batch needs an event") { try await $0.triggerBatch([]) },
        Refusal(#"a channel name can't contain "/""#) {
            try await $0.triggerBatch(batch(1) + [PusherBatchEvent(channel: "a/b", eventName: "e", data: "")])
        },
        Refusal("an event needs a name") {
            try await $0.triggerBatch(batch(1) + [PusherBatchEvent(channel: "a", eventName: "", data: "")])
        },
        Refusal("private-encrypted-a needs PusherHTTPAPIOptions.encryptionMasterKeys") {
            try await $0.triggerBatch(batch(1) + [PusherBatchEvent(channel: "private-encrypted-a", eventName: "e", data: "")])
        },
        Refusal("a user needs an id") { try await $0.sendToUser("", eventName: "e", data: "") },
        Refusal("a user's id can't be longer than 128 characters, this one has 129") {
            try await $0.sendToUser(text(129), eventName: "e", data: "")
        },
        Refusal("an event needs a name") { try await $0.sendToUser("ann", eventName: "", data: "") },
        Refusal("a prefix that begins with presence- only") { _ = try await $0.channels(info: [.userCount]) },
        Refusal("userCount can be asked for with a prefix that begins with presence- only") {
            _ = try await $0.channels(withPrefix: "private-", info: [.userCount])
        },
        Refusal(#"a channel name can't contain "/""#) { _ = try await $0.channel("a/../b") },
        Refusal(#""..""#) { _ = try await $0.channel("..") },
        Refusal("private-a has no users: only presence channels do") {
            _ = try await $0.channel("private-a", info: [.userCount])
        },
        Refusal(#"a channel name can't contain "?""#) { _ = try await $0.users(of: "presence-a?") },
        Refusal("a user needs an id") { try await $0.terminateConnections(ofUser: "") },
        Refusal(#"".." can't be a part of a path"#) { try await $0.terminateConnections(ofUser: "..") },
        Refusal(#""." can't be a part of a path"#) { _ = try await $0.get("/a/./b") },
        Refusal(#"".." can't be a part of a path"#) { _ = try await $0.post("/../b", body: "{}") },
        Refusal("auth_key is the signature's own parameter") { _ = try await $0.get("/a", parameters: ["auth_key": "1"]) },
        Refusal("Body_MD5 is the signature's own parameter") { _ = try await $0.get("/a", parameters: ["Body_MD5": "1"]) },
    ]

    // Proves P15.6, P15.15.
    @Test(arguments: refusals)
    func `A call with an invalid argument is refused with the reason before anything is sent`(refusal: Refusal) async throws {
        let rig = APIRig()
        rig.respond()
        let error = await #expect(throws: PusherError.self) { try await refusal.run(rig.api) }
        #expect(error?.kind == .invalidRequest)
        #expect(error?.message.contains(refusal.testDescription) == true, "\(error?.message ?? "")")
        #expect(rig.session.requests.isEmpty)
    }

    /// The hosted service takes data of 10 KB, others more: the server decides.
    // Proves P15.6.
    @Test func `Events, batches, and user ids are sent up to their limits, which the options can lift or tighten`() async throws {
        let rig = APIRig()
        rig.respond()
        try await rig.api.trigger(
            channels: Array(repeating: Self.text(200), count: 100), eventName: String(repeating: "é", count: 200),
            data: Self.text(10_241), excluding: "12.34")
        try await rig.api.triggerBatch(Self.batch(10))
        for character in ["x", "é"] {
            try await rig.api.sendToUser(String(repeating: character, count: 128), eventName: "e", data: "")
        }
        #expect(rig.session.requests.count == 4)

        let unlimited = APIRig(options: PusherHTTPAPIOptions(limits: .unchecked))
        unlimited.respond()
        try await unlimited.api.trigger(
            channels: Array(repeating: "é#\(Self.text(300))", count: 101), eventName: Self.text(201), data: Self.text(20_000),
            excluding: "an id of another kind")
        try await unlimited.api.triggerBatch(Self.batch(11))
        try await unlimited.api.sendToUser(Self.text(200), eventName: "e", data: "")
        #expect(unlimited.session.requests.count == 3)

        let strict = APIRig(options: PusherHTTPAPIOptions(limits: ProtocolLimits()))
        strict.respond()
        await #expect(throws: PusherError.self) {
            try await strict.api.trigger(channels: [Self.text(165)], eventName: "e", data: "123")
        }
        #expect(strict.session.requests.isEmpty)
    }
}
