import PusherChannels

/// A test double that answers requests from stubs: ``MockSession`` in memory, ``LocalServer`` on a socket.
///
/// The stub added last answers first. All members may be called from any thread.
public protocol RequestStubbing: Sendable {
    /// The stubs.
    var stubList: StubList { get }
    /// The recorder of the requests.
    var recorder: RequestRecorder { get }
}

extension RequestStubbing {
    /// Answers requests: the first with the first response, the next with the next; the last response stays.
    ///
    /// ```swift
    /// session.stub("POST /pusher/auth", .http(500), .http(500), .json(["auth": "key:signature"]))
    /// ```
    @discardableResult
    public func stub(
        _ matcher: RequestMatcher, _ first: StubResponse, _ others: StubResponse..., file: String = #fileID, line: Int = #line
    ) -> Stub {
        add(matcher, .sequence([first] + others), file, line)
    }

    /// Answers requests with what a closure makes of them; it may be called from any thread, for several at once.
    @discardableResult
    public func stub(
        _ matcher: RequestMatcher, file: String = #fileID, line: Int = #line,
        with reply: @escaping @Sendable (RecordedRequest) -> StubResponse
    ) -> Stub {
        add(matcher, .closure(reply), file, line)
    }

    /// Answers requests that pass a test; the spelling of URL protocol stubs.
    @discardableResult
    public func stubRequests(
        passingTest test: @escaping @Sendable (RecordedRequest) -> Bool,
        withStubResponse reply: @escaping @Sendable (RecordedRequest) -> StubResponse,
        file: String = #fileID, line: Int = #line
    ) -> Stub {
        add(RequestMatcher(where: test), .closure(reply), file, line)
    }

    private func add(_ matcher: RequestMatcher, _ source: Stub.Source, _ file: String, _ line: Int) -> Stub {
        let stub = Stub(matcher, source, location: sourceLocation(file, line))
        stubList.add(stub)
        return stub
    }

    /// The stubs, in the order they were added.
    public var stubs: [Stub] { stubList.all }

    /// Takes a stub back.
    public func remove(_ stub: Stub) {
        stubList.remove(stub)
    }

    /// Takes the stub back that was added last.
    public func removeLastStub() {
        stubList.removeLast()
    }

    /// Takes all stubs back.
    public func removeAllStubs() {
        stubList.removeAll()
    }

    // MARK: Requests so far

    /// The requests so far, in order: the latest 10,000. Their ``RecordedRequest/pathParameters`` are those of the stub or route that
    /// answered.
    public var requests: [RecordedRequest] { recorder.all }

    /// The requests that nothing answered: the first 1,000.
    public var unmatchedRequests: [RecordedRequest] { stubList.unmatchedRequests.map(\.request) }

    /// The first request that is meant and that was not returned by this before, now or when it comes.
    ///
    /// Its ``RecordedRequest/pathParameters`` have what stands for the matcher's names, too.
    ///
    /// - Parameters:
    ///   - matcher: Which requests are meant.
    ///   - patience: The least time to wait, in real time: a watchdog, not a measure.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    /// - Throws: ``NothingCame`` when there was none in time, `CancellationError` when the task is cancelled.
    @discardableResult
    public func nextRequest(
        _ matcher: RequestMatcher = .any, within patience: Duration = .seconds(10), file: String = #fileID, line: Int = #line
    ) async throws -> RecordedRequest {
        let wait = RecorderWait(matcher.description, within: patience, at: sourceLocation(file, line))
        var request = try await recorder.next(wait) { matcher.matches($0) }
        request.pathParameters.merge(matcher.outcome(of: request).pathParameters) { $1 }
        return request
    }
}

/// The requests that a test double received: the latest 10,000, as a server may run for long.
public typealias RequestRecorder = Recorder<RecordedRequest>

extension RequestRecorder {
    static var requestLimit: Int { 10_000 }
}
