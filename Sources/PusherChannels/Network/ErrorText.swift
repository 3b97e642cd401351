import Foundation

/// The text of an error of the application's code in a message.
///
/// An `NSError`, and what wraps one, prints all that it was given, addresses and answers among it: of it there is only the description for
/// people.
func text(of error: any Error) -> String {
    if let error = error as? PusherError { return error.description }
    return error is any CustomNSError || type(of: error) is NSError.Type ? error.localizedDescription : "\(error)"
}
