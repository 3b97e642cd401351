import Foundation

extension PusherError: LocalizedError, CustomNSError {
    /// The domain of these errors as `NSError`s.
    public static var errorDomain: String { "PusherChannels.PusherError" }

    /// The code, or 0 if there is none.
    public var errorCode: Int { code ?? 0 }

    /// The description, and this error itself, because a cast from `NSError` doesn't return it on Linux.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: description, Self.key: self]
    }

    /// The key of the SDK's error among the information of an `NSError`.
    fileprivate static let key = "PusherChannels.PusherError"

    /// The error's description, which `NSError.localizedDescription` shows.
    public var errorDescription: String? { description }

    /// Creates the SDK's error from an `NSError` that was passed to
    /// ``PusherDelegate/failedToSubscribeToChannel(name:response:data:error:)``; nil for any other error.
    public init?(_ error: NSError) {
        guard let error = error.userInfo[Self.key] as? PusherError else { return nil }
        self = error
    }
}
