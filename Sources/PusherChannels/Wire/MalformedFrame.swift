/// A frame that can't be understood. The connection goes on; the frame is reported.
enum MalformedFrame: Error, Equatable, Sendable, CustomStringConvertible {
    case notJSON(JSONError)
    case notAnObject
    case missingEvent
    case binary
    /// An event of the protocol itself lacks what it must carry.
    case incomplete(event: Name, missing: String)

    var description: String {
        switch self {
        case .notJSON(let error): "the frame is not JSON: \(error)"
        case .notAnObject: "the frame is JSON, but not an object"
        case .missingEvent: "the frame has no event name"
        case .binary: "the frame is binary, which protocol 7 doesn't use"
        case .incomplete(let event, let missing): "\(event) came without \(missing)"
        }
    }
}
