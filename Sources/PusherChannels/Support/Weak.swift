/// A reference in a list that keeps nobody alive.
package protocol WeakEntry {
    associatedtype Object

    var object: Object? { get }
}

/// A reference that keeps nobody alive.
package struct Weak<Object: AnyObject & Sendable>: WeakEntry, Sendable {
    package private(set) weak var object: Object?

    package init(_ object: Object?) {
        self.object = object
    }
}

extension Array where Element: WeakEntry {
    /// Takes out the entries whose object is gone.
    ///
    /// - Returns: The objects that are there. Each was referred to while it was looked at, so that its last reference may end with
    ///   these: after the lock that guards the list, as the object's end may need it.
    package mutating func removeGone() -> [Element.Object] {
        let objects = map(\.object)
        self = zip(self, objects).filter { $1 != nil }.map(\.0)
        return objects.compactMap { $0 }
    }
}
