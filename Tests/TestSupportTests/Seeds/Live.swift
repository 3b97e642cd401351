import Foundation
import PusherChannels
import TestSupport

/// The real environment as closures, for a struct of closures that takes those of a ``TestEnvironment`` in tests.
///
/// The real scheduler is `LiveScheduler`.
enum Live {
    static func calendar() -> @Sendable () -> Calendar { { .current } }
    static func locale() -> @Sendable () -> Locale { { .current } }
    static func timeZone() -> @Sendable () -> TimeZone { { .current } }
    static func now() -> @Sendable () -> Date { { Date() } }
    static func urlSession() -> @Sendable () -> any HTTPSession { { URLSession.shared } }

    /// Returns a closure that makes date formatters: `Live.dateFormatter { $0.dateStyle = .full }`.
    static func dateFormatter(
        _ configure: @escaping @Sendable (DateFormatter) -> Void = { _ in }
    ) -> @Sendable () -> DateFormatter {
        { configured(DateFormatter(), configure) }
    }

    /// Returns a closure that makes number formatters: `Live.numberFormatter { $0.numberStyle = .currency }`.
    static func numberFormatter(
        _ configure: @escaping @Sendable (NumberFormatter) -> Void = { _ in }
    ) -> @Sendable () -> NumberFormatter {
        { configured(NumberFormatter(), configure) }
    }

    /// Returns a closure that makes JSON decoders: `Live.jsonDecoder { $0.keyDecodingStrategy = .convertFromSnakeCase }`.
    static func jsonDecoder(
        _ configure: @escaping @Sendable (JSONDecoder) -> Void = { _ in }
    ) -> @Sendable () -> AnyDecoder<Data> {
        { AnyDecoder(configured(JSONDecoder(), configure)) }
    }

    /// Returns a closure that makes JSON encoders: `Live.jsonEncoder { $0.keyEncodingStrategy = .convertToSnakeCase }`.
    static func jsonEncoder(
        _ configure: @escaping @Sendable (JSONEncoder) -> Void = { _ in }
    ) -> @Sendable () -> AnyEncoder<Data> {
        { AnyEncoder(configured(JSONEncoder(), configure)) }
    }

    /// Returns a closure that makes requests over the session that `session` returns; cancelling a task cancels its request.
    ///
    /// A request throws the session's error, or `URLError.badServerResponse` if there is no HTTP response.
    static func request(
        session: @escaping @Sendable () -> any HTTPSession
    ) -> @Sendable (URLRequest) async throws -> (Data, URLResponse) {
        { request in
            let reply = try await session().response(to: request)
            return (reply.body, reply.response)
        }
    }

    private static func configured<Object>(_ object: Object, _ configure: (Object) -> Void) -> Object {
        configure(object)
        return object
    }
}
