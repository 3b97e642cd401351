import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An HTTP session that responds from stubs and doesn't access the network.
///
/// The session looks for a response among the stubs, the last added first (see ``RequestStubbing``); then from the server, if
/// there is one and the path belongs to a Channels server or the request is to authorize one of its connections; then in
/// ``mockResponse``. A request without a response fails with ``UnmatchedRequest``. Sessions share nothing, so tests may run in
/// parallel. All members may be called from any thread.
public final class MockSession: HTTPSession, RequestStubbing {
    /// The values that a request completes with.
    public typealias Response = (data: Data?, urlResponse: URLResponse?, error: NSError?)

    private struct State {
        var mockResponse: Response?
        var delivery: MockDelivery
        var findings: [Finding] = []
        /// The stubs of ``addMockResponse(for:httpMethod:data:urlResponse:error:file:line:)``, by method and address.
        var mockResponses: [String: Stub] = [:]
    }

    /// The requests that may be made by the answers to others.
    private struct Calls {
        /// The number of completion handlers that are running, most of them within each other if there are many.
        var running = 0
        /// The number of requests since the clock moved, and the time of the latest.
        var count = 0
        var time = Instant.origin
        var isTold = false

        /// Counts a request. Returns whether it is answered.
        mutating func add(at now: Instant) -> Bool {
            (count, time) = (time == now ? count + 1 : 1, now)
            return running <= MockSession.mostCallsAtOnce.nested && count <= MockSession.mostCallsAtOnce.all
        }

        /// Returns whether it is to be told that a request isn't answered, which is so once.
        mutating func tell() -> Bool {
            defer { isTold = true }
            return !isTold
        }
    }

    /// The number of completion handlers within each other, and of requests at one time, from which on a request isn't answered
    /// any more, because callbacks answer each other.
    static let mostCallsAtOnce = (nested: 500, all: 100_000)

    /// The stubs.
    public let stubList = StubList()
    /// The recorder of the requests.
    public let recorder: RequestRecorder

    private let state: Locked<State>
    /// Apart from the state, because a completion handler that is never called must not keep the stubs alive.
    private let calls = Locked(Calls())
    private let server: InMemoryServer?
    private let scheduler: any Scheduler
    private let timeline: Timeline?

    /// Creates a session without stubs.
    ///
    /// - Parameters:
    ///   - server: The server for requests to any host that no stub matches. Its webhooks go through the session that was made
    ///     last.
    ///   - delivery: The time and place of responses.
    ///   - scheduler: The clock of delayed responses and of requests that time out.
    public convenience init(
        server: InMemoryServer? = nil, delivery: MockDelivery = .global, scheduler: any Scheduler = LiveScheduler()
    ) {
        self.init(server: server, delivery: delivery, scheduler: scheduler, timeline: nil)
    }

    init(server: InMemoryServer?, delivery: MockDelivery, scheduler: any Scheduler, timeline: Timeline?) {
        self.server = server
        self.scheduler = scheduler
        self.timeline = timeline
        recorder = RequestRecorder(limit: RequestRecorder.requestLimit, scheduler: scheduler)
        state = Locked(State(delivery: delivery))
        InterceptingURLProtocol.register()
        server?.sendWebhooks(through: self)
    }

    /// The response to every request that nothing else responds to; `nil` for none.
    ///
    /// It hides requests that a test didn't intend; a stub names the requests it is for.
    public var mockResponse: Response? {
        get { state.withLock { $0.mockResponse } }
        set { state.set(\.mockResponse, to: newValue) }
    }

    /// The time and place of responses to requests made from now on.
    public var delivery: MockDelivery {
        get { state.withLock { $0.delivery } }
        set { state.set(\.delivery, to: newValue) }
    }

    /// Responds to requests with this method and URL; a later call for the same ones replaces the response.
    @discardableResult
    public func addMockResponse(
        for url: URL, httpMethod: String, data: Data?, urlResponse: URLResponse?, error: NSError?, file: String = #fileID,
        line: Int = #line
    ) -> Stub {
        var response = StubResponse()
        response.outcome = MockTask.Outcome(data: data, urlResponse: urlResponse, error: error)
        let name = "\(httpMethod.uppercased()) \(url.absoluteString)"
        let stub = stub(RecordedRequest.matcher(name), response, file: file, line: line)
        if let replaced = state.withLock({ $0.mockResponses.updateValue(stub, forKey: name) }) { stubList.remove(replaced) }
        return stub
    }

    /// Responds to POST requests for authorization, at any URL, as an app's backend would: with a valid signature for the form's
    /// channel and socket, or for the user if the form names no channel; with 400 and 403 if a backend would refuse.
    ///
    /// - Parameters:
    ///   - secret: The app's secret.
    ///   - key: The app's key.
    ///   - encryptionMasterKey: The key from which those of encrypted channels are made, 32 bytes in base64.
    ///   - userID: The user if the form names none; by default the socket id.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    @discardableResult
    public func stubAuth(
        secret: String, key: String, encryptionMasterKey: String? = nil, userID: String? = nil, file: String = #fileID,
        line: Int = #line
    ) -> Stub {
        let app = ServerApp(id: key, key: key, secret: secret, encryptionMasterKey: encryptionMasterKey)
        let authorization = Authorization(app: app, defaultUserID: userID)
        return stub(.authorization, file: file, line: line) { [timeline] request in
            authorization.response(to: request) { timeline?.note("server", $0) }
        }
    }

    /// Prepares a request, which is recorded and answered when the task is resumed.
    public func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> MockTask {
        dataTask(with: request, isOfClient: false, completionHandler: completionHandler)
    }

    fileprivate func dataTask(
        with request: URLRequest, isOfClient: Bool, completionHandler: @escaping MockTask.Completion
    ) -> MockTask {
        let recorded = RecordedRequest(request)
        let completion: MockTask.Completion = { [calls] data, response, error in
            calls.withLock { $0.running += 1 }
            defer { calls.withLock { $0.running -= 1 } }
            completionHandler(data, response, error)
        }
        return MockTask(
            label: "answer to \(recorded.method) \(recorded.path)", delivery: delivery, scheduler: scheduler,
            completion: completion
        ) { [self] in
            reply(recorded, of: request, isOfClient: isOfClient)
        }
    }

    // MARK: Responding

    private func reply(_ request: RecordedRequest, of original: URLRequest, isOfClient: Bool) -> MockTask.Reply {
        let noted = recorder.note(request)
        var reply = reply(noted, request, of: original, isOfClient)
        reply.onWaiting = noted.tell
        return reply
    }

    private func reply(
        _ noted: RequestRecorder.Noted, _ request: RecordedRequest, of original: URLRequest, _ isOfClient: Bool
    ) -> MockTask.Reply {
        // A timeline removes secrets only when it is read, because removing them from every request takes too long.
        let name = "\(request.method) \(request.url)"
        timeline?.note("request", name)
        // Nobody would learn of what is wrong with this one.
        guard timeline?.isOver != true else { return .init(outcome: .init(error: URLError(.cancelled))) }
        let now = scheduler.now
        guard calls.withLock({ $0.add(at: now) }) else {
            noteEndless(request)
            return .init(outcome: .init(), gate: Gate())
        }
        var response: StubResponse
        if let stubbed = stubList.reply(request, onTaking: noted.replace) {
            response = stubbed
        } else if let server, server.serves(request) {
            response = server.respond(to: request)
        } else if let authorized = server?.authorize(request, isOfClient: isOfClient) {
            if authorized.status == 200 { timeline?.note("server", "authorizes in the place of the backend at \(request.url)") }
            response = authorized
        } else if let outcome = mockResponse {
            timeline?.note("answer", "mockResponse to \(name)")
            return .init(outcome: .init(data: outcome.data, urlResponse: outcome.urlResponse, error: outcome.error))
        } else {
            return .init(outcome: .init(error: stubList.recordUnmatched(request)))
        }
        response = response.conditional(on: request)
        let reply = response.reply(to: original)
        let reason = reply.outcome.error == nil ? response.reason.map { ", with \($0)" } : nil
        let outcome = reply.outcome.error.map { "\($0)" } ?? "\(response.status)"
        timeline?.note("answer", "\(outcome) to \(name)\(reply.wait)\(reason ?? "")")
        if let error = reply.outcome.error as? UnsupportedFault {
            note(Finding(.unsupportedFault, "\(error)"))
        }
        if reply.delay < .zero {
            let text = "the answer to \(request) is delayed by \(reply.delay): it comes at once, as nothing comes earlier"
            note(Finding(.error, text))
        }
        return reply
    }

    /// Releases the stubs' closures, which may hold clients that hold this session. The counts stay, and late requests are refused.
    func release() {
        for stub in stubList.all { stub.release() }
        InterceptingURLProtocol.release(self)
    }

    /// Keeps the finding for the first request that isn't answered any more.
    private func noteEndless(_ request: RecordedRequest) {
        guard calls.withLock({ $0.tell() }) else { return }
        let finding = Finding.endless(
            "\(request) is asked for within the answers to \(Self.mostCallsAtOnce.nested) others, or after "
                + "\(Self.mostCallsAtOnce.all) at \(scheduler.now)", as: "a completion handler that asks again")
        timeline?.note("error", finding.text)
        note(finding)
    }

    func note(_ finding: Finding) {
        state.withLock { $0.findings.append(finding) }
    }

    /// The findings for a test's end: requests that nothing responded to, unused stubs, and faults that a session doesn't
    /// support. A ``TestHarness`` asks for them.
    public var findings: [Finding] { stubList.findings + state.withLock { $0.findings } }
}

/// The session for clients: unlike the application's other requests, everything that clients post is for authorization.
struct ClientSession: HTTPSession {
    let session: MockSession

    func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> MockTask {
        session.dataTask(with: request, isOfClient: true, completionHandler: completionHandler)
    }
}

extension Matcher where Subject == RecordedRequest {
    /// Matches requests that clients post to an app's backend to authorize a channel or a user.
    static var authorization: RequestMatcher {
        .method("POST")
            && RequestMatcher("an authorization form") { request in
                let fields = request.authorizationFields
                return fields["socket_id"] != nil || fields["channel_name"] != nil ? nil : "body is no authorization form"
            }
    }
}
