import Foundation

/// Returns the text for an error of the application's code in a message.
///
/// An `NSError`, or an error that wraps one, prints everything that it was given, including addresses and responses, so only its
/// localized description is used. An error that holds one would print it, unless it has its own description.
func text(of error: any Error) -> String {
    if let error = error as? PusherError { return error.description }
    if isFoundations(error) { return error.localizedDescription }
    if !(type(of: error) is any CustomStringConvertible.Type), let cause = foundationsError(in: error) {
        return "\(type(of: error)): \(cause.localizedDescription)"
    }
    return "\(error)"
}

/// Looks for one of Foundation's errors inside a value, breadth first. If the value holds too much to search, the rest counts as
/// one, because its content is unknown.
private func foundationsError(in value: any Error) -> (any Error)? {
    var held: [Any] = [value]
    var looked = 0
    while looked < held.count {
        guard looked < 1000 else { return CocoaError(.featureUnsupported) }
        if let error = held[looked] as? any Error, isFoundations(error) { return error }
        held += Mirror(reflecting: held[looked]).children.map(\.value)
        looked += 1
    }
    return nil
}

/// Returns whether an error is one of Foundation's.
///
/// It is a function, because in an extension of `Error` an error that a continuation has thrown has only the type `Error`.
private func isFoundations(_ error: any Error) -> Bool {
    error is any CustomNSError || type(of: error) is NSError.Type
}
