#if Tracing
import Foundation
import Tracing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session that makes a span for each request, as a child of the caller's context, and sends the span's context to the server.
struct TracedHTTPSession<Base: HTTPSession>: HTTPSession {
    let base: Base
    let environment: PusherEnvironment
    /// The number of times that the request was made before.
    let resends: Int

    func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> Base.DataTask {
        let span = environment.activeTracer.startSpan(
            request.httpMethod ?? "GET", context: ServiceContext.current ?? .topLevel, ofKind: .client,
            at: environment.timestamp(environment.scheduler.now))
        span.updateAttributes { describe(request, in: &$0) }
        var request = request
        environment.activeInstrument.inject(span.context, into: &request, using: HeaderInjector())
        return base.dataTask(with: request) { data, response, error in
            end(span, (response as? HTTPURLResponse)?.statusCode, error)
            completionHandler(data, response, error)
        }
    }

    private func describe(_ request: URLRequest, in attributes: inout SpanAttributes) {
        attributes["http.request.method"] = request.httpMethod ?? "GET"
        if let url = request.url {
            attributes["url.full"] = url.absoluteString.addressWithoutSecrets
            attributes["server.address"] = url.host
            attributes["server.port"] = url.port ?? (url.scheme == "https" ? 443 : 80)
        }
        if resends > 0 { attributes["http.request.resend_count"] = resends }
    }

    private func end(_ span: any Span, _ status: Int?, _ error: (any Error)?) {
        if let status, error == nil {
            span.attributes["http.response.status_code"] = status
            if status >= 400 {
                span.attributes["error.type"] = "\(status)"
                span.setStatus(SpanStatus(code: .error))
            }
        } else {
            // Not recorded as it is, because Foundation's errors hold the whole address.
            span.attributes["error.type"] = (error as? URLError).map { "URLError \($0.code.rawValue)" } ?? "_OTHER"
            span.setStatus(SpanStatus(code: .error, message: error.map { text(of: $0).asMessage }))
        }
        span.end(at: environment.timestamp(environment.scheduler.now))
    }
}

/// Sets header fields, except those that the application has set itself.
private struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into request: inout URLRequest) {
        if request.value(forHTTPHeaderField: key) == nil { request.setValue(value, forHTTPHeaderField: key) }
    }
}

extension PusherEnvironment {
    /// The tracer for spans that begin now.
    var activeTracer: any Tracer { tracer ?? InstrumentationSystem.tracer }

    /// The instrument that writes contexts into requests.
    fileprivate var activeInstrument: any Instrument {
        if let tracer { return tracer }
        return InstrumentationSystem.instrument
    }

    /// Returns an instant of the scheduler's clock as a tracer's timestamp.
    func timestamp(_ instant: Instant) -> DefaultTracerClock.Timestamp {
        let nanoseconds = date(instant).timeIntervalSince1970 * 1e9
        return DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: (0..<1.8e19).contains(nanoseconds) ? UInt64(nanoseconds) : 0)
    }
}
#endif

extension HTTPSession {
    /// Returns the session, with spans for its requests if the trait `Tracing` is on.
    ///
    /// - Parameter resends: The number of times that the request was made before.
    func traced(in environment: PusherEnvironment, resends: Int = 0) -> any HTTPSession {
        #if Tracing
        TracedHTTPSession(base: self, environment: environment, resends: resends)
        #else
        self
        #endif
    }
}
