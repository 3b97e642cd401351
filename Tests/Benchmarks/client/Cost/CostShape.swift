/// A pattern that a server may repeat in a place until a message has the desired size.
struct CostShape: Sendable {
    let name: String
    private let open: String
    private let close: String
    private let separator: String
    private let unit: @Sendable (Int) -> String

    init(
        _ name: String, _ open: String = "", _ close: String = "", separator: String = "",
        _ unit: @escaping @Sendable (Int) -> String
    ) {
        self.name = name
        self.open = open
        self.close = close
        self.separator = separator
        self.unit = unit
    }

    /// Returns about `size` bytes of the pattern.
    func bytes(_ size: Int) -> [UInt8] { filled(size).bytes }

    /// Returns about `size` bytes of the pattern, and the number of pieces in them.
    func filled(_ size: Int) -> (bytes: [UInt8], pieces: Int) {
        var result = Array(open.utf8)
        result.reserveCapacity(size + 1024)
        var number = 0
        repeat {
            if number > 0 { result += separator.utf8 }
            result += unit(number).utf8
            number += 1
        } while result.count + close.utf8.count < size
        return (result + Array(close.utf8), number)
    }

    /// Patterns that may stand between the quotes of a string.
    static let texts = [
        repeated("letters", "a"), repeated("digits", "1"), repeated("brackets", "["), repeated("combining marks", "\u{301}"),
        repeated("letters of three parts", "\u{1112}\u{1161}\u{11AB}"), repeated("flags", "\u{1F1E6}"),
        repeated("escaped quotes", #"\""#), repeated("escaped backslashes", #"\\"#), repeated("escaped line ends", #"\n"#),
        repeated("escaped letters", #"\u0061"#), repeated("escaped NULs", #"\u0000"#), repeated("escaped marks", #"\u0301"#),
        repeated("surrogate pairs", #"\ud83d\ude00"#), repeated("half pairs", #"\ud83d"#),
        repeated("addresses' beginnings", "://"), repeated("addresses with users", "a://b:c@d?e "),
        CostShape("one long user", "a://") { _ in "b:" },
    ]

    /// Patterns that may stand in the place of a value.
    static let values = [
        repeated("one number's digits", "1"),
        CostShape("one fraction's digits", "0.") { _ in "1" },
        CostShape("one exponent's digits", "1e") { _ in "0" },
        list("ones") { _ in "1" },
        list("numbers, each another") { "\($0)" },
        list("large numbers") { _ in "12345678901234567890" },
        list("exponents") { _ in "1e9" },
        list("fractions") { _ in "0.1" },
        list("words") { _ in "null" },
        list("empty strings") { _ in #""""# },
        list("short strings") { _ in #""a""# },
        list("short strings, each another") { "\"\($0)\"" },
        list("long strings, each another") { "\"\($0) and more than fits in a word\"" },
        list("escaped strings") { _ in #""\n""# },
        list("empty arrays") { _ in "[]" },
        list("small arrays") { _ in "[1]" },
        list("empty objects") { _ in "{}" },
        list("small objects") { _ in #"{"":1}"# },
        list("named objects") { _ in #"{"name":"online"}"# },
        list("small objects, each another") { "{\"\($0)\":1}" },
        object("one key") { _ in "a" },
        object("many keys") { "\($0)" },
        object("many long keys") { "\($0) and more than fits in a word" },
        object("escaped keys") { "\\n\($0)" },
        object("keys of marks") { "\($0)\u{301}" },
        list("nested arrays") { _ in nested("[", "1", "]") },
        list("nested objects") { _ in nested(#"{"":"#, "1", "}") },
        repeated("brackets that don't close", "["),
        CostShape("white space", "[", "]") { _ in " " },
    ]

    private static func repeated(_ name: String, _ unit: String) -> CostShape {
        CostShape(name) { _ in unit }
    }

    private static func list(_ name: String, _ unit: @escaping @Sendable (Int) -> String) -> CostShape {
        CostShape(name, "[", "]", separator: ",", unit)
    }

    private static func object(_ name: String, _ key: @escaping @Sendable (Int) -> String) -> CostShape {
        CostShape(name, "{", "}", separator: ",") { "\"\(key($0))\":1" }
    }

    private static func nested(_ open: String, _ middle: String, _ close: String) -> String {
        String(repeating: open, count: 100) + middle + String(repeating: close, count: 100)
    }
}
