/// The path to a value: a linked list that values share up to the point at which their paths diverge.
final class JSONCodingPath {
    private let parent: JSONCodingPath?
    private let key: any CodingKey

    init(_ parent: JSONCodingPath?, _ key: any CodingKey) {
        self.parent = parent
        self.key = key
    }

    var keys: [any CodingKey] {
        var keys: [any CodingKey] = []
        var last: JSONCodingPath? = self
        while let path = last {
            keys.append(path.key)
            last = path.parent
        }
        return keys.reversed()
    }
}

extension JSONCodingPath? {
    var keys: [any CodingKey] { self?.keys ?? [] }
}

/// A key of a path that no user-defined type declares.
enum JSONCodingKey: CodingKey {
    case element(Int)
    case `super`

    init?(stringValue: String) {
        nil
    }

    init?(intValue: Int) {
        self = .element(intValue)
    }

    var stringValue: String {
        switch self {
        case .element(let index): "Index \(index)"
        case .super: "super"
        }
    }

    var intValue: Int? {
        switch self {
        case .element(let index): index
        case .super: nil
        }
    }
}
