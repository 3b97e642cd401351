import Foundation

extension PusherError: LocalizedError, CustomNSError {
    /// The domain of these errors as `NSError`s.
    public static var errorDomain: String { "PusherChannels.PusherError" }

    /// The code, or 0 where there is none.
    public var errorCode: Int { code ?? 0 }

    /// The description, and this error itself, which a cast from `NSError` doesn't bring back on Linux.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: description, NSUnderlyingErrorKey: self]
    }

    /// The error's description, which `NSError.localizedDescription` shows.
    public var errorDescription: String? { description }

    /// The SDK's error in an `NSError` that ``PusherDelegate/failedToSubscribeToChannel(name:response:data:error:)`` was given;
    /// nil for any other.
    public init?(_ error: NSError) {
        guard let error = error.userInfo[NSUnderlyingErrorKey] as? PusherError else { return nil }
        self = error
    }
}
