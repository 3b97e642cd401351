import Foundation

/// The text of an error of the application's code in a message.
///
/// An `NSError`, and what wraps one, prints all that it was given, addresses and answers among it: of it there is only the description for
/// people. An error that holds one prints it, unless it has words of its own.
func text(of error: any Error) -> String {
    if let error = error as? PusherError { return error.description }
    if isFoundations(error) { return error.localizedDescription }
    if !(type(of: error) is any CustomStringConvertible.Type), let cause = foundationsError(in: error) {
        return "\(type(of: error)): \(cause.localizedDescription)"
    }
    return "\(error)"
}

/// Looks for an error of Foundation's in what a value holds, breadth first; what is deeper or behind more than anybody looks at counts as
/// one, being no better known.
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

/// A function: in an extension of `Error`, what a continuation has thrown is of the type `Error` only.
private func isFoundations(_ error: any Error) -> Bool {
    error is any CustomNSError || type(of: error) is NSError.Type
}
