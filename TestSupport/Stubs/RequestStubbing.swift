import PusherChannels

/// A test double that responds to requests from stubs: ``MockSession`` in memory, ``LocalServer`` on a socket.
///
/// The stub that was added last comes first. All members may be called from any thread.
public protocol RequestStubbing: Sendable {
    /// The stubs.
    var stubList: StubList { get }
    /// The recorder of the requests.
    var recorder: RequestRecorder { get }
}

extension RequestStubbing {
    /// Responds to requests with these responses, in order; the last response is repeated.
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

    /// Responds to requests with the result of a closure, which may be called from any thread and for several requests at once.
    @discardableResult
    public func stub(
        _ matcher: RequestMatcher, file: String = #fileID, line: Int = #line,
        with reply: @escaping @Sendable (RecordedRequest) -> StubResponse
    ) -> Stub {
        add(matcher, .closure(reply), file, line)
    }

    private func add(_ matcher: RequestMatcher, _ source: Stub.Source, _ file: String, _ line: Int) -> Stub {
        let stub = Stub(matcher, source, location: sourceLocation(file, line))
        stubList.add(stub)
        return stub
    }

    /// The stubs, in the order they were added.
    public var stubs: [Stub] { stubList.all }

    /// Removes a stub.
    public func remove(_ stub: Stub) {
        stubList.remove(stub)
    }

    /// Removes all stubs.
    public func removeAllStubs() {
        stubList.removeAll()
    }

    // MARK: Requests so far

    /// The requests so far, in order: the latest 10,000. Their ``RecordedRequest/pathParameters`` are those of the stub or route
    /// that responded.
    public var requests: [RecordedRequest] { recorder.all }

    /// The requests that nothing responded to: the first 1,000.
    public var unmatchedRequests: [RecordedRequest] { stubList.unmatchedRequests.map(\.request) }

    /// Returns the first matching request that this method hasn't returned before, waiting for it if necessary.
    ///
    /// Its ``RecordedRequest/pathParameters`` also have the texts of the parts that the matcher names.
    ///
    /// - Parameters:
    ///   - matcher: The matcher for the request.
    ///   - patience: The minimum real time to wait: a watchdog, not a measurement.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    /// - Throws: ``NothingCame`` if no match arrives in time; `CancellationError` if the task is cancelled.
    @discardableResult
    public func nextRequest(
        _ matcher: RequestMatcher = .any, within patience: Duration = .seconds(5), file: String = #fileID, line: Int = #line
    ) async throws -> RecordedRequest {
        let wait = RecorderWait(matcher.description, within: patience, at: sourceLocation(file, line))
        var request = try await recorder.next(wait) { matcher.matches($0) }
        request.pathParameters.merge(matcher.outcome(of: request).pathParameters) { $1 }
        return request
    }
}

/// The requests that a test double received: the latest 10,000, because a server may run for a long time.
public typealias RequestRecorder = Recorder<RecordedRequest>

extension RequestRecorder {
    static var requestLimit: Int { 10_000 }
}
