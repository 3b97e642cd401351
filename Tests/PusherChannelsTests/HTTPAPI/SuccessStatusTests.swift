import Foundation
import PusherChannels
import TestSupport
import Testing

/// Responses whose status says success. soketi sends every response with 200, and its refusals in the body.
@Suite struct SuccessStatusTests {
    private static let refusals: [(code: Int, failure: HTTPAPIFailure, advice: String)] = [
        (400, .badRequest, ""), (401, .unauthorized, "; check the app's key and secret, and this machine's clock"),
        (404, .notFound, "; check the app's id and the host"),
        (413, .payloadTooLarge, "; send less, such as a reference to what clients can fetch"),
        (429, .rateLimited, "; make fewer requests"), (500, .serverError, ""),
    ]

    private let rig = APIRig(options: PusherHTTPAPIOptions(retryPolicy: .none))

    // Proves P15.17.
    @Test(arguments: APICall.allCases) func aRefusalInTheBodyIsTheFailureOfItsCode(call: APICall) async throws {
        for (code, failure, advice) in Self.refusals {
            rig.respond(200, #"{"error":"why\u001b[2J","code":\#(code)}"#)
            let missing = failure == .notFound ? call.mayBeMissing : ""
            let warning = failure.mayHaveBeenCarriedOut && call.isPublish ? "; it may have been carried out" : ""
            let message =
                "the HTTP API answered with status 200 and error \(code): \"why\\u{1b}[2J\"\(advice)\(missing)\(warning)"
            await #expect(throws: PusherError(.httpAPI(failure), code: code, message: message)) {
                try await call.run(on: rig.api)
            }
        }
    }

    // Proves P15.17.
    @Test(arguments: [#"{"error":"why"}"#, #"{"error":"why","code":"auth"}"#, #"{"error":"why","code":200,"channels":null}"#])
    func aRefusalWithoutACodeIsAFailureToo(body: String) async throws {
        rig.respond(200, body)
        let message = "the HTTP API answered with status 200 and an error: \"why\""
        await #expect(throws: PusherError(.httpAPI(.unexpectedStatus), code: 200, message: message)) {
            try await APICall.trigger.run(on: rig.api)
        }
    }

    // Proves P15.17.
    @Test(arguments: [
        (APICall.trigger, #"{"channels":{},"error":"","code":400}"#), (.triggerBatch, #"{"batch":[{}],"error":"","code":400}"#),
        (.channels, #"{"channels":{},"error":"","code":400}"#), (.channel, #"{"occupied":false,"error":"","code":400}"#),
        (.users, #"{"users":[],"error":"","code":400}"#), (.get, #"{"job":1,"error":"x","code":400}"#), (.get, #"{"error":"x"}"#),
        (.post, #"{"error":null,"code":400}"#), (.trigger, #"{"error":7,"code":400}"#), (.get, ""), (.post, "<html>"),
    ])
    func anErrorBesideWhatWasAskedForIsNone(call: APICall, body: String) async throws {
        rig.respond(200, body)
        try await call.run(on: rig.api)
    }

    /// A proxy's or a login's page, for example. An empty list is PHP's way to write an empty object.
    // Proves P15.10.
    @Test(
        arguments: [APICall.trigger, .triggerBatch, .sendToUser, .terminateConnections],
        ["", "ok", "<html><body>Sign in</body></html>", "[{}]", "null", "{}}"])
    func aPublishWithoutAnObjectInResponseMayBeCarriedOut(call: APICall, body: String) async throws {
        rig.respond(200, body)
        let error = await #expect(throws: PusherError.self) { try await call.run(on: rig.api) }
        let warning = call.isPublish ? "; it may have been carried out" : ""
        #expect(error?.message == "the HTTP API's response can't be read: it isn't a JSON object\(warning)")
        #expect(error?.kind == .httpAPI(.unreadableResponse))
        #expect(error?.isRetryable == false)
    }

    // Proves P15.10.
    @Test(arguments: ["{}", #"{"channel":"a"}"#, #"{"occupied":"yes"}"#])
    func aChannelOfWhichNothingIsToldIsUnreadable(body: String) async throws {
        rig.respond(200, body)
        let error = await #expect(throws: PusherError.self) { try await APICall.channel.run(on: rig.api) }
        #expect(error?.kind == .httpAPI(.unreadableResponse))
    }

    // Proves P15.12, P15.17.
    @Test(arguments: APICall.allCases, [(503, false), (429, true), (404, false)])
    func aCodeIsRetriedAsTheStatusWouldBe(call: APICall, refusal: (code: Int, isAlwaysRetried: Bool)) async throws {
        let executor = TestExecutor()
        let rig = APIRig(scheduler: executor.scheduler)
        rig.respond(200, #"{"error":"why","code":\#(refusal.code)}"#)
        try await executor.run(time: .automatic) { _ in
            _ = await #expect(throws: PusherError.self) { try await call.run(on: rig.api) }
        }
        let isRetried = refusal.code != 404 && (refusal.isAlwaysRetried || !call.isPublish)
        #expect(rig.session.requests.count == (isRetried ? 3 : 1))
    }
}
