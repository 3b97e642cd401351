/// A value that may hold a secret. When it is printed, dumped, or mirrored, the value around it shows only that it is there.
///
/// Types that hold one thus need no descriptions and mirrors of their own, which could miss the next property.
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
