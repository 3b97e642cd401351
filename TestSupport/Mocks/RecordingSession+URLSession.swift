import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension RecordingSession {
    /// Returns a configuration for code that makes its requests with its own `URLSession`. They are forwarded to the session
    /// behind this one, and recorded for as long as the recorder lives.
    ///
    /// ```swift
    /// let urlSession = URLSession(configuration: recorder.recording(URLSession.shared).urlSessionConfiguration())
    /// ```
    ///
    /// The limits are those of ``MockSession/urlSessionConfiguration()``: no `URLSession.shared`, no WebSocket and download
    /// tasks, no body of an upload task. The session behind this one follows redirects.
    public func urlSessionConfiguration() -> URLSessionConfiguration {
        StubURLProtocols.configuration(recorder.keep(isOverMock ? base : AsideSession(base)))
    }

    /// Indicates whether no `URLSession` can be behind this one, so that it answers in the order of its calls.
    private var isOverMock: Bool {
        base is MockSession || base is ClientSession || (base as? RecordingSession)?.isOverMock == true
    }
}
