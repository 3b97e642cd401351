import Foundation
import PusherChannels
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct PusherHTTPAPITests {
    private let session = MockSession(delivery: .immediate)

    private func api(host: PusherHost = .host("api.example"), port: Int? = 8080, useTLS: Bool = false) -> PusherHTTPAPI {
        PusherHTTPAPI(
            appID: "3", key: "278d425bdf160c739803", secret: "7ad3773142a6692b25b8", host: host, port: port, useTLS: useTLS,
            environment: PusherEnvironment(
                httpSession: session, wallClock: { Date(timeIntervalSince1970: 1_353_088_179) },
                jsonEncoder: {
                    let encoder = JSONEncoder()
                    encoder.outputFormatting = .sortedKeys
                    return encoder
                }))
    }

    private func reply(_ status: Int, _ body: String = "{}") throws {
        let url = try #require(URL(string: "http://api.example"))
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
        session.mockResponse = (Data(body.utf8), response, nil)
    }

    @Test func theRequestIsSigned() async throws {
        try reply(200)
        try await api().trigger(channels: ["project-3"], eventName: "foo", data: #"{"some":"data"}"#, excluding: "1.2")
        let request = try #require(session.requests.first)
        #expect(request.method == "POST")
        #expect(
            request.text
                == #"{"channels":["project-3"],"data":"{\"some\":\"data\"}","name":"foo","socket_id":"1.2"}"#)
        #expect(
            request.url.hasPrefix(
                "http://api.example:8080/apps/3/events?auth_key=278d425bdf160c739803&auth_signature="))
        #expect(request.url.contains("auth_timestamp=1353088179&auth_version=1.0&body_md5=1d6356972cee55b8fdb66a84cfa8822a"))
        #expect(!request.url.contains("7ad3773142a6692b25b8"))
    }

    @Test(arguments: [
        (PusherHost.cluster("eu"), Int?.none, true, "https://api-eu.pusher.com/apps/3/events?"),
        (.defaultHost, nil, true, "https://api.pusherapp.com/apps/3/events?"),
        (.host("h"), nil, false, "http://h/apps/3/events?"),
    ])
    func theAddressFollowsTheHost(host: PusherHost, port: Int?, useTLS: Bool, prefix: String) async throws {
        try reply(200)
        try await api(host: host, port: port, useTLS: useTLS).trigger(channels: ["a"], eventName: "e", data: "")
        let request = try #require(session.requests.first)
        #expect(request.url.hasPrefix(prefix))
    }

    @Test func aRefusalHasItsStatusAndReason() async throws {
        try reply(401, "Unknown auth_key")
        await #expect(
            throws: PusherError(
                .httpAPI, code: 401, message: "the HTTP API answered with status 401: Unknown auth_key")
        ) { try await api().trigger(channels: ["a"], eventName: "e", data: "") }
    }

    @Test func anAPIThatCannotBeReachedIsAnError() async throws {
        session.mockResponse = (nil, nil, NSError(domain: NSURLErrorDomain, code: NSURLErrorCannotConnectToHost))
        do throws(PusherError) {
            try await api().trigger(channels: ["a"], eventName: "e", data: "")
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.kind == .httpAPI)
            #expect(error.code == nil)
        }
    }
}
