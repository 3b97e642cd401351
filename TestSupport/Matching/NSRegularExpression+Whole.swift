import Foundation

extension NSRegularExpression {
    /// Creates an expression that matches whole texts only.
    convenience init(matchingWhole pattern: String) throws {
        // Check the pattern alone first: `a)(b` is only valid inside the parentheses that make it match the whole text.
        _ = try NSRegularExpression(pattern: pattern)
        try self.init(pattern: "\\A(?:\(pattern))\\z")
    }
}
