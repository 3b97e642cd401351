/// A value that may hold a secret: printed, dumped or mirrored, the value around it shows only that it is there.
///
/// So the types that hold one need no descriptions and mirrors of their own, which the next property would be forgotten in.
struct Secret<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }

    var description: String { "<hidden>" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret: Equatable where Value: Equatable {}
extension Secret: Hashable where Value: Hashable {}
