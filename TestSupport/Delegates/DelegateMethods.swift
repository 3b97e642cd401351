import PusherChannels

/// The methods of delegate classes, read from the symbols of the running program.
///
/// If all methods of a protocol have defaults, any class can conform. The compiler doesn't warn about a method that is slightly
/// off: it's a different method, which no client calls, though the app may. Only debug builds on Linux have a class's methods
/// among their symbols; elsewhere nothing is found.
enum DelegateMethods {
    /// Returns a finding for each method of a delegate's class that resembles a method of its protocol but isn't that method.
    static func nearMisses(of delegate: AnyObject) -> [Finding] {
        guard let defaults = requirements(of: delegate) else { return [] }
        return classes(of: delegate).flatMap { type -> [Finding] in
            // The name of a local or private class also contains an address.
            let name = String(reflecting: type).replacing(#/\(unknown context at \$\w+\)\./#, with: "")
            let methods = Symbols.ofProgram.mangledName(of: type).map(methods(named:)) ?? []
            return nearMisses(methods, of: defaults).map { method, requirement in
                Finding(
                    .nearMiss,
                    """
                    \(name) has \(method), which no client calls: a delegate has \(requirement). If it is the app's own, give it \
                    another name, or allow `.nearMiss`
                    """)
            }
        }
    }

    /// Returns the methods that resemble a missing requirement, each paired with that requirement.
    static func nearMisses(_ methods: [String], of requirements: [String]) -> [(method: String, requirement: String)] {
        let present = Set(methods.filter(requirements.contains).map(baseName))
        return methods.filter { !requirements.contains($0) }.compactMap { method in
            let similar = requirements.filter { isNear(baseName($0), baseName(method)) }
            guard let nearest = similar.first, !present.contains(baseName(nearest)) else { return nil }
            return (method, nearest)
        }
    }

    private static func requirements(of delegate: AnyObject) -> [String]? {
        let type: Any.Type? =
            switch delegate {
            case is any PusherDelegate: (any PusherDelegate).self
            case is any MainActorPusherDelegate: (any MainActorPusherDelegate).self
            default: nil
            }
        guard let name = type.flatMap({ _mangledTypeName($0) }), name.hasSuffix("_p") else { return nil }
        // The mangled prefix of a protocol's extensions in its own module.
        return methods(named: "$s\(name.dropLast(2))PAAE")
    }

    private static func classes(of delegate: AnyObject) -> [AnyClass] {
        Array(sequence(first: type(of: delegate)) { _getSuperclass($0) })
    }

    /// Returns the methods whose symbols begin with a mangled name, such as `receivedError(error: PusherChannels.PusherError)`.
    private static func methods(named context: String) -> [String] {
        let demangled = Symbols.ofProgram.demangled(beginningWith: context)
        return Set(demangled.compactMap(signature)).sorted()
    }

    /// Returns the text after the type in `App.Delegate.receivedError(error: PusherChannels.PusherError) -> ()`; `nil` for
    /// symbols that aren't instance methods, such as closures.
    static func signature(_ symbol: String) -> String? {
        let isExtension = symbol.hasPrefix("(extension in ")
        let symbol = isExtension ? String(symbol.drop { $0 != ":" }.dropFirst()) : symbol
        guard !symbol.hasPrefix("static "), !symbol.hasPrefix("closure #") else { return nil }
        return method(symbol)
    }

    private static func method(_ symbol: String) -> String? {
        var depth = 0
        var start = symbol.startIndex
        var index = symbol.startIndex
        // Parentheses also enclose a private type; those that follow a name enclose the parameters.
        while index < symbol.endIndex {
            switch symbol[index] {
            case "(" where depth == 0 && index > start: return String(withoutPlace(symbol[start...]))
            case "(", "<": depth += 1
            case ")", ">": depth -= 1
            case "." where depth == 0: start = symbol.index(after: index)
            case " " where depth == 0: return nil
            default: break
            }
            index = symbol.index(after: index)
        }
        return nil
    }

    /// Returns the method without the suffix for a class that is local to a function, ` in Delegate #1 in App.test() -> ()`.
    private static func withoutPlace(_ method: Substring) -> Substring {
        method.firstRange(of: #/ in \w+ #\d+ in /#).map { method[..<$0.lowerBound] } ?? method
    }

    private static func baseName(_ method: String) -> String { String(method.prefix { $0 != "(" }) }

    /// Returns whether two names differ only in case or, if they are long, in one character or in two transposed characters.
    static func isNear(_ first: String, _ second: String) -> Bool {
        let (a, b) = (Array(first.lowercased()), Array(second.lowercased()))
        guard a != b else { return true }
        guard min(a.count, b.count) >= 8, abs(a.count - b.count) <= 1 else { return false }
        let start = zip(a, b).prefix { $0 == $1 }.count
        let end = zip(a.dropFirst(start).reversed(), b.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        let (inA, inB) = (a.dropFirst(start).dropLast(end), b.dropFirst(start).dropLast(end))
        return max(inA.count, inB.count) <= 1 || (inA.count == 2 && inA.elementsEqual(inB.reversed()))
    }
}
