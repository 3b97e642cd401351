import Foundation
import PusherChannels
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct HTTPAPIFailureTests {
    private static let statuses: [(status: Int, failure: HTTPAPIFailure, advice: String)] = [
        (301, .unexpectedStatus, ""), (304, .unexpectedStatus, ""), (400, .badRequest, ""),
        (401, .unauthorized, "; check the app's key and secret, and this machine's clock"),
        (403, .forbidden, "; the app may be disabled, or over its quota"), (404, .notFound, "; check the app's id and the host"),
        (408, .noResponse, ""), (413, .payloadTooLarge, "; send less, such as a reference to what clients can fetch"),
        (418, .unexpectedStatus, ""),
        (429, .rateLimited, "; make fewer requests"), (500, .serverError, ""), (502, .serverError, ""), (503, .serverError, ""),
        (504, .serverError, ""), (599, .serverError, ""), (600, .unexpectedStatus, ""),
    ]

    private static let unanswered: [(code: URLError.Code, failure: HTTPAPIFailure)] = [
        (.cannotFindHost, .unreachable), (.dnsLookupFailed, .unreachable), (.cannotConnectToHost, .unreachable),
        (.notConnectedToInternet, .unreachable), (.badURL, .unreachable), (.unsupportedURL, .unreachable),
        (.secureConnectionFailed, .unreachable), (.serverCertificateHasBadDate, .unreachable),
        (.serverCertificateNotYetValid, .unreachable), (.serverCertificateHasUnknownRoot, .unreachable),
        (.serverCertificateUntrusted, .unreachable), (.clientCertificateRequired, .unreachable),
        (.clientCertificateRejected, .unreachable), (.networkConnectionLost, .noResponse), (.timedOut, .noResponse),
        (.badServerResponse, .noResponse), (.cancelled, .noResponse), (.unknown, .noResponse),
        (.dataLengthExceedsMaximum, .noResponse),
    ]

    private let rig = APIRig(options: PusherHTTPAPIOptions(retryPolicy: .none))

    // Proves P15.10.
    @Test(arguments: APICall.allCases)
    func `Every call reports each failing status as its own error, with the server's text and advice`(call: APICall) async throws
    {
        for (status, failure, advice) in Self.statuses {
            rig.respond(status, "  why\u{1B}[2J \"not\"\n")
            let missing = failure == .notFound ? call.mayBeMissing : ""
            let warning = failure.mayHaveBeenCarriedOut && call.isPublish ? "; it may have been carried out" : ""
            let message = "the HTTP API answered with status \(status): \"why\\u{1b}[2J \"not\"\"\(advice)\(missing)\(warning)"
            await #expect(throws: PusherError(.httpAPI(failure), code: status, message: message)) {
                try await call.run(on: rig.api)
            }
        }
        #expect(rig.session.requests.count == Self.statuses.count)
    }

    @Test(arguments: [(302, false), (400, false), (404, false), (408, true), (418, false), (425, true), (429, true), (503, true)])
    func `An error of the status 408, 425, 429, or 503 is retryable; 302, 400, 404, and 418 aren't`(
        status: Int, isRetryable: Bool
    ) async throws {
        rig.respond(status, "why")
        let error = await #expect(throws: PusherError.self) { try await APICall.trigger.run(on: rig.api) }
        #expect(error?.isRetryable == isRetryable)
    }

    // Proves P15.10.
    @Test(arguments: [("x", 1 << 20, ": \"\(String(repeating: "x", count: 200))…\""), ("\n", 1, "")])
    func `An error quotes at most 200 characters of the HTTP API's response, and nothing of a blank one`(
        character: String, count: Int, quoted: String
    ) async throws {
        rig.respond(400, String(repeating: character, count: count))
        let error = await #expect(throws: PusherError.self) { try await APICall.trigger.run(on: rig.api) }
        #expect(error?.message == "the HTTP API answered with status 400\(quoted)")
    }

    @Test(arguments: [
        (302, "https://ann:pw@eu.example/a?token=t", ", which leads to https://…@eu.example/a?…"),
        (301, "/b\u{1B}", ", which leads to /b\\u{1b}"),
        (200, "/b", nil), (404, "/b", "; check the app's id and the host"),
    ])
    func `The error of a redirect names its location without credentials and query`(status: Int, location: String, words: String?)
        async throws
    {
        rig.respond(status, words == nil ? "{}" : "", headers: ["Location": location])
        guard let words else { return try await APICall.trigger.run(on: rig.api) }
        let error = await #expect(throws: PusherError.self) { try await APICall.trigger.run(on: rig.api) }
        #expect(error?.message == "the HTTP API answered with status \(status)\(words)")
    }

    @Test(arguments: [200, 201, 202, 299]) func `Any status from 200 to 299 counts as success`(status: Int) async throws {
        rig.respond(status)
        try await APICall.trigger.run(on: rig.api)
    }

    // Proves P15.11.
    @Test(arguments: APICall.allCases) func `An error without a response says whether a publish may have been carried out`(
        call: APICall
    ) async throws {
        for (code, failure) in Self.unanswered {
            rig.fail(code)
            let error = await #expect(throws: PusherError.self) { try await call.run(on: rig.api) }
            #expect(error?.kind == .httpAPI(failure), "\(code)")
            #expect(error?.code == nil)
            let isWarned = error?.message.hasSuffix("; the request may have been carried out")
            #expect(isWarned == (failure == .noResponse && call.isPublish), "\(code)")
        }
        #expect(rig.session.requests.count == Self.unanswered.count)
    }

    /// Mocks and the application's own sessions may return such errors.
    // Proves P15.11.
    @Test func `A session's NSError is classified like a URLError only if it has the URL error domain`() async throws {
        rig.session.mockResponse = (nil, nil, NSError(domain: NSURLErrorDomain, code: NSURLErrorCannotConnectToHost))
        let unreachable = await #expect(throws: PusherError.self) { try await APICall.trigger.run(on: rig.api) }
        #expect(unreachable?.kind == .httpAPI(.unreachable))
        rig.session.mockResponse = (nil, nil, NSError(domain: "Else", code: NSURLErrorCannotConnectToHost))
        let lost = await #expect(throws: PusherError.self) { try await APICall.trigger.run(on: rig.api) }
        #expect(lost?.kind == .httpAPI(.noResponse))
    }

    /// A certificate or an address must be fixed first, and a response that is too long would be too long again.
    // Proves P15.11.
    @Test(arguments: [
        (URLError.Code.cannotFindHost, true), (.cannotConnectToHost, true), (.notConnectedToInternet, true), (.timedOut, true),
        (.networkConnectionLost, true), (.badURL, false), (.unsupportedURL, false), (.serverCertificateHasBadDate, false),
        (.serverCertificateUntrusted, false), (.clientCertificateRequired, false), (.dataLengthExceedsMaximum, false),
    ])
    func `A network error is retryable, except for a bad URL, bad certificate, or overlong response`(
        code: URLError.Code, isRetryable: Bool
    ) async throws {
        rig.fail(code)
        let error = await #expect(throws: PusherError.self) { try await APICall.trigger.run(on: rig.api) }
        #expect(error?.isRetryable == isRetryable)
    }

    /// The application's own session may return both if the body was cut off.
    // Proves P15.11.
    @Test func `A network error beside a response with status 200 fails the call`() async throws {
        let url = try #require(URL(string: "http://api.example"))
        let response: URLResponse? = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        let lost = NSError(domain: NSURLErrorDomain, code: NSURLErrorNetworkConnectionLost)
        rig.session.mockResponse = (nil, response, lost)
        let error = await #expect(throws: PusherError.self) { try await APICall.channels.run(on: rig.api) }
        #expect(error?.kind == .httpAPI(.noResponse))
    }

    @Test func `Only noResponse, serverError, and unreadableResponse mean a call may have been carried out`() {
        let uncertain: [HTTPAPIFailure] = [.noResponse, .serverError, .unreadableResponse]
        let certain: [HTTPAPIFailure] = [
            .unreachable, .badRequest, .unauthorized, .forbidden, .notFound, .payloadTooLarge, .rateLimited, .unexpectedStatus,
        ]
        #expect(uncertain.filter(\.mayHaveBeenCarriedOut) == uncertain)
        #expect(certain.filter(\.mayHaveBeenCarriedOut) == [])
    }
}

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
    @Test(arguments: APICall.allCases) func `A 200 response with an error and a code in its body fails as that status would`(
        call: APICall
    ) async throws {
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
    func `A 200 response with an error but no usable code in its body is a failure`(body: String) async throws {
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
    func `A 200 response with the requested data succeeds even if it has an error member, too`(call: APICall, body: String)
        async throws
    {
        rig.respond(200, body)
        try await call.run(on: rig.api)
    }

    /// A proxy's or a login's page, for example. An empty list is PHP's way to write an empty object.
    // Proves P15.10.
    @Test(
        arguments: [APICall.trigger, .triggerBatch, .sendToUser, .terminateConnections],
        ["", "ok", "<html><body>Sign in</body></html>", "[{}]", "null", "{}}"])
    func `A publish whose 200 response isn't a JSON object fails but may have been carried out`(call: APICall, body: String)
        async throws
    {
        rig.respond(200, body)
        let error = await #expect(throws: PusherError.self) { try await call.run(on: rig.api) }
        let warning = call.isPublish ? "; it may have been carried out" : ""
        #expect(error?.message == "the HTTP API's response can't be read: it isn't a JSON object\(warning)")
        #expect(error?.kind == .httpAPI(.unreadableResponse))
        #expect(error?.isRetryable == false)
    }

    // Proves P15.10.
    @Test(arguments: ["{}", #"{"channel":"a"}"#, #"{"occupied":"yes"}"#])
    func `A response about a channel is unreadable unless it says whether the channel is occupied`(body: String) async throws {
        rig.respond(200, body)
        let error = await #expect(throws: PusherError.self) { try await APICall.channel.run(on: rig.api) }
        #expect(error?.kind == .httpAPI(.unreadableResponse))
    }

    // Proves P15.12, P15.17.
    @Test(arguments: APICall.allCases, [(503, false), (429, true), (404, false)])
    func `An error code in a 200 response is retried exactly when that status would be`(
        call: APICall, refusal: (code: Int, isAlwaysRetried: Bool)
    ) async throws {
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
