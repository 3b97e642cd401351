import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session whose ``TrafficRecorder`` records the requests that it passes on.
///
/// All members may be called from any thread; completion handlers are called where the underlying session calls them.
public struct RecordingSession: HTTPSession {
    let base: any HTTPSession
    let recorder: TrafficRecorder

    init(_ base: any HTTPSession, recorder: TrafficRecorder) {
        self.base = base
        self.recorder = recorder
    }

    /// Prepares a request; it is recorded when its task is resumed for the first time.
    ///
    /// A body's stream is read here, so that both the recorder and the server get all of it.
    public func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> RecordingTask {
        let recorded = RecordedRequest(request)
        var request = request
        if request.httpBodyStream != nil { request.httpBody = recorded.body }
        let number = Locked<Int?>(nil)
        let task = base.dataTask(with: request) { [recorder] data, response, error in
            if let number = number.withLock({ $0 }), let response = response as? HTTPURLResponse {
                recorder.finish(number, response, body: data ?? Data())
            }
            completionHandler(data, response, error)
        }
        return RecordingTask(task) { [recorder] in
            let begun = recorder.begin(recorded)
            number.withLock { $0 = begun }
        }
    }
}

extension RecordingSession: RoutedHTTPSession {
    /// Returns a recording session over the underlying one with these settings, if that one accepts any.
    public func routed(tls: TLSConfiguration, proxy: ProxyConfiguration) -> any HTTPSession {
        guard let base = base as? any RoutedHTTPSession else { return self }
        return RecordingSession(base.routed(tls: tls, proxy: proxy), recorder: recorder)
    }
}

/// One request of a ``RecordingSession``. All members may be called from any thread.
public final class RecordingTask: HTTPTask {
    private let base: any HTTPTask
    private let begin: Locked<(@Sendable () -> Void)?>

    init(_ base: any HTTPTask, begin: @escaping @Sendable () -> Void) {
        self.base = base
        self.begin = Locked(begin)
    }

    /// Starts the request; a second call does nothing and records nothing.
    public func resume() {
        let first = begin.withLock { begin in
            defer { begin = nil }
            return begin
        }
        first?()
        base.resume()
    }

    /// Cancels the request.
    public func cancel() {
        base.cancel()
    }
}
