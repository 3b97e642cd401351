import Foundation
import TestSupport
import Testing

@testable import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestSignerTests {
    /// `python3 -c 'import hashlib,hmac,sys; m,p,q,b=sys.argv[1:]; q+=b and "&body_md5="+hashlib.md5(b.encode()).hexdigest();
    /// print(hmac.new(b"7ad3773142a6692b25b8",f"{m}\n{p}\n{q}".encode(),hashlib.sha256).hexdigest())' POST /apps/3/events
    /// 'auth_key=278d425bdf160c739803&auth_timestamp=1353088179&auth_version=1.0' BODY`
    // Proves P15.1.
    @Test func `A publish request is signed together with the MD5 of its body`() async throws {
        let rig = APIRig()
        rig.respond()
        try await rig.api.trigger(channels: ["project-3"], eventName: "foo", data: #"{"some":"data"}"#)
        let request = try #require(rig.session.requests.first)
        #expect(request.text == #"{"channels":["project-3"],"data":"{\"some\":\"data\"}","name":"foo"}"#)
        #expect(
            request.url == "http://api.example:8080/apps/3/events?auth_key=278d425bdf160c739803&auth_timestamp=1353088179"
                + "&auth_version=1.0&body_md5=fb46e511627c26ab33a0a20880c10de7"
                + "&auth_signature=6f669989dd4c0f757bcda3aa25680d60af10d133b8acbf8b7ef49f73874687a6")
    }

    /// Made with the one-liner above, the query `auth_…&filter_by_prefix=presence-&info=user_count` and no body.
    // Proves P15.1.
    @Test func `A query is signed with its parameters and sent without a body`() async throws {
        let rig = APIRig()
        rig.respond(200, #"{"channels":{}}"#)
        _ = try await rig.api.channels(withPrefix: "presence-", info: [.userCount])
        let request = try #require(rig.session.requests.first)
        #expect(
            request.url == "http://api.example:8080/apps/3/channels?auth_key=278d425bdf160c739803&auth_timestamp=1353088179"
                + "&auth_version=1.0&filter_by_prefix=presence-&info=user_count"
                + "&auth_signature=16819168891cb5dfd72b5c7a5d3d602605b26c6ba1930033b5e2eeeb65010291")
        #expect(request.method == "GET" && request.body.isEmpty && request.header("Content-Type") == nil)
    }

    /// Made with the one-liner above and the query `a b=ä&=+/&auth_…`.
    // Proves P15.1.
    @Test func `Query parameters are signed unescaped and sent percent-encoded`() async throws {
        let rig = APIRig()
        rig.respond()
        _ = try await rig.api.get("/odd", parameters: ["a b": "ä&=+/"])
        let request = try #require(rig.session.requests.first)
        #expect(request.url.contains("/apps/3/odd?a%20b=%C3%A4%26%3D%2B%2F&auth_key="))
        #expect(request.parameters["auth_signature"] == "f145a1d8a0a9fdddaf7d3113742eb377fcf002899d4322751a6c91ad8f245e69")
    }

    @Test(arguments: [
        (PusherHost.cluster("eu"), Int?.none, true, String?.none, "https://api-eu.pusher.com/apps/3/events?"),
        (.defaultHost, nil, true, nil, "https://api.pusherapp.com/apps/3/events?"),
        (.host("h"), nil, false, nil, "http://h/apps/3/events?"),
        (.host("h"), 6001, false, "/ws/über uns/", "http://h:6001/ws/%C3%BCber%20uns/apps/3/events?"),
        (.host("::1"), 6001, false, "", "http://[::1]:6001/apps/3/events?"),
    ])
    func `A request's URL is made of the host or cluster, the port, the TLS option, and the path`(
        host: PusherHost, port: Int?, useTLS: Bool, path: String?, prefix: String
    ) async throws {
        let rig = APIRig(host: host, port: port, useTLS: useTLS, options: PusherHTTPAPIOptions(path: path))
        rig.respond()
        try await APICall.trigger.run(on: rig.api)
        #expect(rig.session.requests.first?.url.hasPrefix(prefix) == true, "\(rig.session.requests)")
    }

    @Test func `A call with an empty app id is refused`() async {
        let api = PusherHTTPAPI(
            appID: "", key: "key", secret: "secret", environment: PusherEnvironment(httpSession: MockSession()))
        await #expect(throws: PusherError(.invalidRequest, message: "the app's id is empty")) {
            try await APICall.trigger.run(on: api)
        }
    }

    /// The error leaves out the part in front of the host, which may be a password.
    @Test(arguments: [
        (PusherHost.host("ann:s3cret@api.example"), "api.example"), (.host(""), ""), (.cluster(""), ""),
        (.host("api.example:6001"), "api.example:6001"),
    ])
    func `An empty host, or one with credentials or a port, is refused; no secret shows`(host: PusherHost, shown: String) async {
        #expect(PusherHost.cluster("").stringValue.isEmpty)
        let message = "\"\(shown)\" isn't a valid host (a name or an address alone, without scheme, port and path)"
        #expect(await APIRig(host: host).error() == PusherError(.invalidRequest, message: message))
    }

    /// The prefix is removed on the way to the server, which checks the signature of the path that it gets.
    // Proves P15.1.
    @Test func `The path prefix from the options is not part of the signature`() async throws {
        let (rig, plain) = (APIRig(options: PusherHTTPAPIOptions(path: "ws")), APIRig())
        for rig in [rig, plain] {
            rig.respond()
            try await APICall.trigger.run(on: rig.api)
        }
        let signatures = [rig, plain].map { $0.session.requests.first?.parameters["auth_signature"] }
        #expect(signatures[0] == signatures[1])
    }

    @Test(arguments: [(Duration.seconds(2.5), 2.5), (.zero, 0.001), (.seconds(-1), 0.001), (.seconds(Int64.max), 86_400)])
    func `The timeout of a request is at least a millisecond and at most a day`(timeout: Duration, seconds: TimeInterval) throws {
        let signer = RequestSigner(
            appID: "3", key: "k", secret: "s", host: .host("h"), port: nil, useTLS: true, path: nil, timeout: timeout)
        #expect(try signer.request(for: .get("/channels", member: "channels"), at: Date()).timeoutInterval == seconds)
    }

    /// Official libraries sign and send names as they are; other characters that a user's ID may contain are escaped in both.
    @Test(arguments: [("A-z_0=@,.;9", "A-z_0=@,.;9"), ("a/b", "a%2Fb"), ("ä ?#%", "%C3%A4%20%3F%23%25"), ("...", "...")])
    func `Slashes and special characters in a part of a path are escaped`(segment: String, escaped: String) throws {
        #expect(try HTTPAPICall.path(["users", segment]) == "/users/\(escaped)")
    }
}
