import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The real surroundings as closures, for a struct of closures that takes a ``TestEnvironment``'s in tests.
///
/// The machine's scheduler is `LiveScheduler`.
public enum Live {
    /// Gives the user's calendar.
    public static func calendar() -> @Sendable () -> Calendar {
        { .current }
    }

    /// Gives the user's locale.
    public static func locale() -> @Sendable () -> Locale {
        { .current }
    }

    /// Gives the user's time zone.
    public static func timeZone() -> @Sendable () -> TimeZone {
        { .current }
    }

    /// Gives the date.
    public static func now() -> @Sendable () -> Date {
        { Date() }
    }

    /// Makes formatters of dates: `Live.dateFormatter { $0.dateStyle = .full }`.
    public static func dateFormatter(
        _ configure: @escaping @Sendable (DateFormatter) -> Void = { _ in }
    ) -> @Sendable () -> DateFormatter {
        { configured(DateFormatter(), configure) }
    }

    /// Makes formatters of numbers: `Live.numberFormatter { $0.numberStyle = .currency }`.
    public static func numberFormatter(
        _ configure: @escaping @Sendable (NumberFormatter) -> Void = { _ in }
    ) -> @Sendable () -> NumberFormatter {
        { configured(NumberFormatter(), configure) }
    }

    /// Makes decoders of JSON: `Live.jsonDecoder { $0.keyDecodingStrategy = .convertFromSnakeCase }`.
    public static func jsonDecoder(
        _ configure: @escaping @Sendable (JSONDecoder) -> Void = { _ in }
    ) -> @Sendable () -> AnyDecoder<Data> {
        { AnyDecoder(configured(JSONDecoder(), configure)) }
    }

    /// Makes encoders to JSON: `Live.jsonEncoder { $0.keyEncodingStrategy = .convertToSnakeCase }`.
    public static func jsonEncoder(
        _ configure: @escaping @Sendable (JSONEncoder) -> Void = { _ in }
    ) -> @Sendable () -> AnyEncoder<Data> {
        { AnyEncoder(configured(JSONEncoder(), configure)) }
    }

    /// Gives the shared URL session.
    public static func urlSession() -> @Sendable () -> any HTTPSession {
        { URLSession.shared }
    }

    /// Makes requests over the session that `session` gives; a cancelled task cancels its request.
    ///
    /// A request throws what the session reports, `URLError.badServerResponse` where there is no HTTP response.
    public static func request(
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
