import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension RecordingSession {
    /// A configuration for code that makes its requests with a `URLSession` of its own: they go on through the session behind this, and
    /// are written down for as long as the recorder lives.
    ///
    /// ```swift
    /// let urlSession = URLSession(configuration: recorder.recording(URLSession.shared).urlSessionConfiguration())
    /// ```
    ///
    /// It reaches as far as ``MockSession/urlSessionConfiguration()``: no `URLSession.shared`, no WebSocket and download tasks, no body of
    /// an upload task. Redirects are followed by the session behind.
    public func urlSessionConfiguration() -> URLSessionConfiguration {
        StubURLProtocols.configuration(recorder.keep(base))
    }
}
