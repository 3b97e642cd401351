import Foundation
import PusherChannels
import TestSupport
import Testing

@Suite struct QueryTests {
    private let rig = APIRig()

    // Proves P15.7.
    @Test func `A query for channels sends its prefix and info, and returns the channels sorted by name`() async throws {
        rig.respond(200, #"{"channels":{"presence-b":{"user_count":2},"presence-a":{"user_count":"1"},"presence-c":{}}}"#)
        let channels = try await rig.api.channels(withPrefix: "presence-", info: [.userCount])
        #expect(channels.map(\.name) == ["presence-a", "presence-b", "presence-c"])
        #expect(channels.map(\.userCount) == [1, 2, nil])
        #expect(rig.session.requests.first?.parameters["filter_by_prefix"] == "presence-")
        #expect(rig.session.requests.first?.parameters["info"] == "user_count")
    }

    // Proves P15.7.
    @Test(arguments: [#"{"channels":{}}"#, #"{"channels":[]}"#])
    func `A response with an empty object or list of channels means no channels`(body: String) async throws {
        rig.respond(200, body)
        #expect(try await rig.api.channels() == [])
        #expect(rig.session.requests.first?.parameters["filter_by_prefix"] == nil)
        #expect(rig.session.requests.first?.parameters["info"] == nil)
    }

    // Proves P15.7.
    @Test func `A query for a channel returns its occupancy, and its counts and cached event if there are any`() async throws {
        rig.respond(200, #"{"occupied":true,"user_count":42,"subscription_count":43,"cache":{"data":"{\"a\":1}","ttl":60}}"#)
        let channel = try await rig.api.channel("presence-cache-a;b", info: [.userCount, .subscriptionCount, .cache])
        #expect(rig.session.requests.map(\.path) == ["/apps/3/channels/presence-cache-a;b"])
        #expect(rig.session.requests.first?.parameters["info"] == "user_count,subscription_count,cache")
        #expect(channel.name == "presence-cache-a;b")
        #expect(channel.isOccupied == true && channel.userCount == 42 && channel.subscriptionCount == 43)
        #expect(channel.cachedEvent?.data == #"{"a":1}"# && channel.cachedEvent?.timeToLive == .seconds(60))
        rig.respond(200, #"{"occupied":false,"cache":null}"#)
        let empty = try await rig.api.channel("cache-a", info: [.cache])
        #expect(empty.isOccupied == false && empty.userCount == nil && empty.cachedEvent == nil)
    }

    /// Sockudo tells the whole message as a text, Reverb as an object.
    @Test(
        arguments: [
            (#"{"data":"{\"data\":\"{\\\"v\\\":9}\",\"event\":\"e\",\"channel\":\"cache-c\"}","ttl":300}"#, #"{"v":9}"#),
            (#"{"event":"e","data":"{\u0022v\u0022:9}","channel":"cache-c"}"#, #"{"v":9}"#),
            (#"{"event":"client-e","data":{"v":9},"channel":"cache-c"}"#, #"{"v":9}"#),
            // These are the events' own data.
            (#"{"data":"{\"data\":1,\"event\":\"e\",\"channel\":\"other\"}"}"#, #"{"data":1,"event":"e","channel":"other"}"#),
            (#"{"data":"{\"data\":1,\"channel\":\"cache-c\"}"}"#, #"{"data":1,"channel":"cache-c"}"#),
            (#"{"data":null}"#, nil), ("{}", nil),
        ] as [(String, String?)])
    func `A cached event's data is found in each server's form`(cache: String, data: String?) async throws {
        rig.respond(200, #"{"occupied":true,"cache":\#(cache)}"#)
        #expect(try await rig.api.channel("cache-c", info: [.cache]).cachedEvent?.data == data)
    }

    /// Reverb's other responses with status 404 are texts.
    @Test func `Nobody is on a presence channel about whose users Reverb answers 404 with an empty object`() async throws {
        rig.respond(404, "{}")
        #expect(try await rig.api.users(of: "presence-a") == [])
        let others = [(APICall.channel, "{}"), (.users, "No matching application for ID [3]."), (.users, #"{"error":"x"}"#)]
        for (call, body) in others {
            rig.respond(404, body)
            #expect(await rig.error(of: call)?.kind == .httpAPI(.notFound), "\(body)")
        }
    }

    // Proves P15.7.
    @Test func `A query for a channel's users returns their ids as text and skips users without an id`() async throws {
        rig.respond(200, #"{"users":[{"id":"ann"},{"id":7},{"id":123456789012345678901},{}]}"#)
        #expect(try await rig.api.users(of: "presence-a") == ["ann", "7", "123456789012345678901"])
        #expect(rig.session.requests.map(\.path) == ["/apps/3/channels/presence-a/users"])
    }

    // Proves P15.8.
    @Test func `Terminating a user's connections posts to the path of the user, with the id escaped`() async throws {
        rig.respond()
        try await rig.api.terminateConnections(ofUser: "ann/1")
        let request = try #require(rig.session.requests.first)
        #expect(request.method == "POST" && request.text == "{}")
        #expect(request.url.hasPrefix("http://api.example:8080/apps/3/users/ann%2F1/terminate_connections?"))
    }

    // Proves P15.9.
    @Test func `Any GET, POST, or DELETE request can be made under the app's path`() async throws {
        rig.respond(200, #"{"connections":7}"#)
        let body = try await rig.api.get("connections", parameters: ["verbose": "1"])
        let done = try await rig.api.post("/users/ann/warn", body: ["text": "a"])
        #expect([body, done] == [Data(#"{"connections":7}"#.utf8), Data(#"{"connections":7}"#.utf8)])
        _ = try await rig.api.delete("/channels/news", parameters: ["all": "1"])
        let asked = ["GET /apps/3/connections", "POST /apps/3/users/ann/warn", "DELETE /apps/3/channels/news"]
        #expect(rig.session.requests.map { "\($0.method) \($0.path)" } == asked)
        #expect(rig.session.requests.first?.parameters["verbose"] == "1")
        #expect(rig.session.requests.last?.parameters["all"] == "1")
        #expect(rig.bodies == ["", #"{"text":"a"}"#, ""])
    }
}
