import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Which failures of an authorization may be over when it is asked for again: one rule for endpoints and for the application's code.
enum AuthRetry {
    /// Nobody is asked to wait for longer.
    private static let longestTime = 24 * 60 * 60

    /// Networks come back, and certificates are renewed; a request that can't be made, or has a huge answer, stays what it is. An
    /// error of unknown sort may be over next time.
    static func mayHelp(after error: any Error) -> Bool {
        if let error = error as? PusherError { return error.isRetryable }
        return switch (error as? URLError)?.code {
        case .badURL, .unsupportedURL, .requestBodyStreamExhausted, .dataLengthExceedsMaximum: false
        default: true
        }
    }

    /// The time that a response wants to be left alone for: its `Retry-After` in seconds. A date, which is told by another clock, is
    /// none.
    static func time(in response: HTTPURLResponse) -> Duration? {
        guard let field = response.value(forHTTPHeaderField: "Retry-After"), !field.isEmpty,
            field.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return .seconds(min(Int(field) ?? longestTime, longestTime))
    }
}
