import ArgumentParser
import Foundation
import PusherChannels
import TestSupport

/// The statuses with which the commands end.
enum Status {
    static let text = """
        Exit statuses: 0 for success; 1 for a failure, whose reason is printed; 64 if the command line can't be used; 75 if \
        another attempt may succeed and does no harm, because the server was not reached or is too busy, \
        or the port to listen on is taken.
        """

    /// Returns the status for the error that ends a command. No other place decides about one.
    static func of(_ error: any Error) -> ExitCode {
        switch error {
        case let failure as Failure: failure.reason.map(of) ?? .failure
        case let error as PusherError where error.isRetryable: ExitCode(75)  // EX_TEMPFAIL
        case let error as PusherError where error.isOfCommandLine: .validationFailure
        case is PusherError: .failure
        case let error as LocalServer.CannotListen where error.reason.hasSuffix(String(cString: strerror(EADDRINUSE))):
            ExitCode(75)
        default: PusherChannelsCommand.exitCode(for: error)
        }
    }
}

/// Throws unless a server can be asked to listen on a port.
func validateListening(_ port: Int, _ option: String) throws {
    guard 0...65_535 ~= port else { throw ValidationError("\(option) takes a number from 0 to 65535") }
}

/// A problem that the user of the command must know about.
struct Failure: Error, CustomStringConvertible {
    let description: String
    /// The error that decides about the status; `nil` if no later attempt is better, and the command line isn't to blame.
    let reason: (any Error)?

    init(_ description: String, because reason: (any Error)? = nil) {
        self.description = description
        self.reason = reason
    }
}

extension PusherError {
    /// Indicates whether the HTTP API may have done what it was asked to.
    var mayHaveBeenCarriedOut: Bool {
        if case .httpAPI(let failure) = kind { failure.mayHaveBeenCarriedOut } else { false }
    }

    /// Indicates whether it is about an option or an argument, or the file that it names.
    fileprivate var isOfCommandLine: Bool { DoctorStep(failedWith: self) == .options }
}
