/// The members of an object, found by the bytes of their names.
///
/// Of several with one name it is the first, as with Foundation; two normal forms of a name are two names, other than there:
/// comparing Swift's strings would cost more the more combining marks they have, as a peer likes.
struct JSONMembers {
    /// From so many members on they are looked up in a table.
    private static let many = 17

    let document: JSONDocument
    private let object: Int
    private let index: JSONMemberIndex?

    init(of object: Int, in document: JSONDocument) throws(JSONError) {
        let token = document.tokens[object]
        guard !token.isBroken else { throw document.problem("a bad name among an object's members", with: token) }
        self.document = document
        self.object = object
        index = token.count < Self.many ? nil : JSONMemberIndex(of: object, in: document)
    }

    /// The value of the member with a name.
    func value(named name: String) -> Int? {
        var name = name
        return name.withUTF8 { value(named: UnsafeRawBufferPointer($0)) }
    }

    private func value(named name: UnsafeRawBufferPointer) -> Int? {
        if let index { return index.key(named: name, in: document).map { $0 + 1 } }
        let tokens = document.tokens
        let hasEscapes = tokens[object].hasEscapes
        var key = object + 1
        for _ in 0..<tokens[object].count {
            let token = tokens[key]
            if hasEscapes ? document.isString(token, name) : areEqual(document.text(of: token), name) { return key + 1 }
            key = document.following(key + 1)
        }
        return nil
    }

    /// Each name once, in the order of the text.
    var names: [String] {
        get throws(JSONError) {
            var names: [String] = []
            for key in keys {
                names.append(try document.string(document.tokens[key]))
            }
            return names
        }
    }

    private var keys: [Int] {
        if let index { return index.keys }
        var keys: [Int] = []
        var key = object + 1
        for _ in 0..<document.tokens[object].count {
            let isFirst = document.withBytes(of: document.tokens[key]) { value(named: $0) == key + 1 }
            if isFirst { keys.append(key) }
            key = document.following(key + 1)
        }
        return keys
    }
}
