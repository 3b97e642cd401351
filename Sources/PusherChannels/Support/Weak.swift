/// An entry of a list, which refers to an object without keeping it alive.
package protocol WeakEntry {
    associatedtype Object

    var object: Object? { get }
}

/// A reference that doesn't keep its object alive.
package struct Weak<Object: AnyObject & Sendable>: WeakEntry, Sendable {
    package private(set) weak var object: Object?

    package init(_ object: Object?) {
        self.object = object
    }
}

extension Array where Element: WeakEntry {
    /// Removes the entries whose object is gone.
    ///
    /// - Returns: The objects that are left. Each was retained while it was checked, so the last reference to it may be among
    ///   these. Release them without the lock that guards the list, as an object's deinitializer may need it.
    package mutating func removeGone() -> [Element.Object] {
        let objects = map(\.object)
        self = zip(self, objects).filter { $1 != nil }.map(\.0)
        return objects.compactMap { $0 }
    }
}
