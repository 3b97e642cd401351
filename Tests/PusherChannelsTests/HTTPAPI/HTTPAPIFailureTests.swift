import Foundation
import PusherChannels
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct HTTPAPIFailureTests {
    private static let statuses: [(status: Int, failure: HTTPAPIFailure, isRetryable: Bool, advice: String)] = [
        (301, .unexpectedStatus, false, ""), (302, .unexpectedStatus, false, ""), (304, .unexpectedStatus, false, ""),
        (400, .badRequest, false, ""),
        (401, .unauthorized, false, "; check the app's id, key and secret, and this machine's clock"),
        (403, .forbidden, false, "; the app may be disabled, or over its quota"),
        (404, .notFound, false, "; check the app's id and the host"), (408, .noResponse, true, ""),
        (413, .payloadTooLarge, false, "; send less, such as a reference to what clients can fetch"),
        (418, .unexpectedStatus, false, ""), (425, .unexpectedStatus, true, ""),
        (429, .rateLimited, true, "; make fewer requests"), (500, .serverError, true, ""), (502, .serverError, true, ""),
        (503, .serverError, true, ""), (504, .serverError, true, ""), (599, .serverError, true, ""),
        (600, .unexpectedStatus, false, ""),
    ]

    /// A certificate or an address must be fixed first, and a response that is too long would be too long again.
    private static let unanswered: [(codes: [URLError.Code], failure: HTTPAPIFailure, isRetryable: Bool)] = [
        ([.cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .notConnectedToInternet], .unreachable, true),
        (
            [
                .badURL, .unsupportedURL, .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
                .serverCertificateHasUnknownRoot, .serverCertificateUntrusted, .clientCertificateRequired,
                .clientCertificateRejected,
            ], .unreachable, false
        ),
        ([.networkConnectionLost, .timedOut, .badServerResponse, .cancelled, .unknown], .noResponse, true),
        ([.dataLengthExceedsMaximum], .noResponse, false),
    ]

    private let rig = APIRig(options: PusherHTTPAPIOptions(retryPolicy: .none))

    /// soketi sends every response with 200, and its refusals in the body.
    // Proves P15.10, P15.17.
    @Test(arguments: APICall.allCases)
    func `Each failing status, also in a 200 body, is an error of its own with text and advice`(call: APICall) async throws {
        for (status, failure, isRetryable, advice) in Self.statuses {
            let missing = failure == .notFound ? call.mayBeMissing : ""
            let warning = failure.mayHaveBeenCarriedOut && call.isPublish ? "; it may have been carried out" : ""
            func expect(_ answer: String) async {
                let message = "the HTTP API answered with status \(answer)\(advice)\(missing)\(warning)"
                let error = PusherError(.httpAPI(failure), code: status, message: message, isRetryable: isRetryable)
                await #expect(throws: error) { try await call.run(on: rig.api) }
            }
            rig.respond(status, "  why\u{1B}[2J \"not\"\n")
            await expect("\(status): \"why\\u{1b}[2J \"not\"\"")
            guard (400..<600).contains(status) else { continue }
            rig.respond(200, #"{"error":"why\u001b[2J","code":\#(status)}"#)
            await expect("200 and error \(status): \"why\\u{1b}[2J\"")
        }
    }

    // Proves P15.10.
    @Test(arguments: [("x", 1 << 20, ": \"\(String(repeating: "x", count: 200))…\""), ("\n", 1, "")])
    func `An error quotes at most 200 characters, and no blank response`(character: String, count: Int, quoted: String) async {
        rig.respond(400, String(repeating: character, count: count))
        #expect(await rig.error()?.message == "the HTTP API answered with status 400\(quoted)")
    }

    /// An address may lie where the quotation ends, and PHP writes `\/` in JSON.
    // Proves P15.10.
    @Test(arguments: [
        (500, "\(String(repeating: "x", count: 180)) https://ann:s3cretpassword@db/"),
        (200, #"{"error":"\#(String(repeating: "x", count: 180)) https://ann:s3cretpassword@db/","code":500}"#),
        (500, "https://h/?\(String(repeating: "x", count: 970)) https://ann:s3cretpassword@db/"),
        (500, #"{"message":"https:\/\/ann:s3cret@h\/x?token=t"}"#),
    ])
    func `An error quotes no passwords and queries of addresses in the HTTP API's response`(status: Int, body: String) async {
        rig.respond(status, body)
        let message = await rig.error()?.message ?? ""
        #expect(message.contains("https:"))
        #expect(!message.contains("s3c") && !message.contains("token=t"))
    }

    @Test(arguments: [
        (302, "https://ann:pw@eu.example/a?token=t", ", which leads to https://…@eu.example/a?…"),
        (301, "/b\u{1B}", ", which leads to /b\\u{1b}"), (404, "/b", "; check the app's id and the host"),
    ])
    func `A redirect's error has its location without credentials or query`(status: Int, location: String, words: String) async {
        rig.respond(status, "", headers: ["Location": location])
        #expect(await rig.error()?.message == "the HTTP API answered with status \(status)\(words)")
    }

    @Test(arguments: [200, 201, 202, 299]) func `Any status from 200 to 299 counts as success`(status: Int) async throws {
        rig.respond(status, headers: ["Location": "/b"])
        try await APICall.trigger.run(on: rig.api)
    }

    // Proves P15.11.
    @Test(arguments: APICall.allCases)
    func `An error without a response says if a retry may help and if a publish may have been carried out`(call: APICall) async {
        for (codes, failure, isRetryable) in Self.unanswered {
            for code in codes {
                rig.fail(code)
                let error = await rig.error(of: call)
                #expect(error?.kind == .httpAPI(failure), "\(code)")
                #expect(error?.code == nil)
                #expect(error?.isRetryable == isRetryable, "\(code)")
                let isWarned = error?.message.hasSuffix("; the request may have been carried out")
                #expect(isWarned == (failure == .noResponse && call.isPublish), "\(code)")
            }
        }
        #expect(rig.session.requests.count == Self.unanswered.map(\.codes.count).reduce(0, +))
    }

    /// Mocks and the application's own sessions may return such errors, also beside a response whose body was cut off.
    // Proves P15.11.
    @Test func `A session's NSError of the URL error domain is taken like a URLError, also beside a response`() async throws {
        let url = try #require(URL(string: "http://api.example"))
        let ok: URLResponse? = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        let results: [(response: URLResponse?, domain: String, code: Int, failure: HTTPAPIFailure)] = [
            (nil, NSURLErrorDomain, NSURLErrorCannotConnectToHost, .unreachable),
            (nil, "Else", NSURLErrorCannotConnectToHost, .noResponse),
            (ok, NSURLErrorDomain, NSURLErrorNetworkConnectionLost, .noResponse),
        ]
        for (response, domain, code, failure) in results {
            rig.session.mockResponse = (nil, response, NSError(domain: domain, code: code))
            #expect(await rig.error(of: .channels)?.kind == .httpAPI(failure))
        }
    }

    @Test func `Only noResponse, serverError, and unreadableResponse mean a call may have been carried out`() {
        let uncertain: [HTTPAPIFailure] = [.noResponse, .serverError, .unreadableResponse]
        let certain: [HTTPAPIFailure] = [
            .unreachable, .badRequest, .unauthorized, .forbidden, .notFound, .payloadTooLarge, .rateLimited, .unexpectedStatus,
        ]
        #expect((uncertain + certain).filter(\.mayHaveBeenCarriedOut) == uncertain)
    }
}

/// Responses whose status says success, whatever their body says.
@Suite struct SuccessStatusTests {
    private let rig = APIRig(options: PusherHTTPAPIOptions(retryPolicy: .none))

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
    func `A 200 response with the requested data succeeds, whatever its error member`(call: APICall, body: String) async throws {
        rig.respond(200, body)
        try await call.run(on: rig.api)
    }

    /// A proxy's or a login's page, for example. An empty list is PHP's way to write an empty object.
    // Proves P15.10.
    @Test(
        arguments: [APICall.trigger, .triggerBatch, .sendToUser, .terminateConnections],
        ["", "ok", "<html><body>Sign in</body></html>", "[{}]", "null", "{}}"])
    func `A publish answered by no JSON object fails, but may have been carried out`(call: APICall, body: String) async throws {
        rig.respond(200, body)
        let warning = call.isPublish ? "; it may have been carried out" : ""
        let message = "the HTTP API's response can't be read: it isn't a JSON object\(warning)"
        await #expect(throws: PusherError(.httpAPI(.unreadableResponse), message: message, isRetryable: false)) {
            try await call.run(on: rig.api)
        }
    }

    // Proves P15.10.
    @Test(arguments: [APICall.channels, .channel, .users])
    func `A query whose 200 response lacks what was asked for, as JSON, fails and isn't retried`(call: APICall) async {
        let rig = APIRig()
        let incomplete = call == .channel ? ["{}", #"{"channel":"a"}"#, #"{"occupied":"yes"}"#] : []
        for body in ["", "ok", "[]", "7", #"{"channels":7}"#] + incomplete {
            rig.respond(200, body)
            #expect(await rig.error(of: call)?.kind == .httpAPI(.unreadableResponse))
        }
        #expect(rig.session.requests.count == 5 + incomplete.count)
    }
}
