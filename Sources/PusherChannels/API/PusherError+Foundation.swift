import Foundation

extension PusherError: LocalizedError {
    /// The error's description, which `NSError.localizedDescription` shows.
    public var errorDescription: String? { description }
}
