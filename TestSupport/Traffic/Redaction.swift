import Foundation
import PusherChannels

/// The parts of the traffic that are hidden, in files, in exports and in messages: secrets, by the names they go by.
///
/// Values are hidden as soon as they are recorded, so a recorder never holds them, and again when a file is read, so that an
/// older file shows no secret either. A hidden value is written ``marker``, which matches any value on validation.
///
/// ```swift
/// let redaction = Redaction.standard.hiding(names: ["iban"], texts: ["correct horse"]).showing(names: ["page_token"])
/// ```
public struct Redaction: Sendable {
    /// The text that stands for a hidden value.
    public static let marker = "<redacted>"

    /// Hides signatures (of `auth`, the key is kept), shared secrets, passwords, tokens, cookies and authorization headers,
    /// wherever something goes by such a name: in a query, a form, JSON at any depth, a header or a text.
    public static let standard = Redaction(isOn: true)

    /// Hides nothing: for traffic that was made up, never for credentials that are good somewhere.
    public static let none = Redaction(isOn: false)

    private let isOn: Bool
    private var hidden: Set<String> = []
    private var shown: Set<String> = []
    private var texts: [String] = []
    /// The texts, whatever of them is percent-encoded.
    private var encodedTexts: NSRegularExpression?

    private init(isOn: Bool) {
        self.isOn = isOn
    }

    /// Returns a redaction that also hides what goes by these names, and these texts wherever they stand. Capitals, `-` and `_` in names
    /// don't matter.
    public func hiding(names: [String] = [], texts: [String] = []) -> Redaction {
        var redaction = self
        redaction.hidden.formUnion(names.map(Self.normalize))
        // Longer ones first: one may be part of another.
        redaction.texts = (self.texts + texts.filter { !$0.isEmpty }).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
        let pattern = redaction.texts.map(Self.patternOfEncoded).joined(separator: "|")
        redaction.encodedTexts = pattern.isEmpty ? nil : try? NSRegularExpression(pattern: pattern)
        return redaction
    }

    /// Returns a redaction that shows what goes by these names.
    public func showing(names: [String]) -> Redaction {
        var redaction = self
        redaction.shown.formUnion(names.map(Self.normalize))
        return redaction
    }

    // MARK: Names

    private static let whole: Set<String> = ["auth", "cookie", "setcookie", "pwd", "otp", "jwt", "sessionid"]
    private static let parts = [
        "password", "passwd", "passphrase", "secret", "signature", "authorization", "credential", "apikey", "accesskey",
        "privatekey", "masterkey",
    ]
    private static let endings = ["token", "tokens"]

    private static func normalize(_ name: String) -> String {
        name.lowercased().filter { $0 != "-" && $0 != "_" }
    }

    func isSecret(_ name: String) -> Bool {
        let name = Self.normalize(name)
        if shown.contains(name) { return false }
        if hidden.contains(name) { return true }
        // Forms nest names, `user[password]`, and number them, `token[]`.
        return name.split { "[]".contains($0) }.contains { isSecret(part: String($0)) }
    }

    private func isSecret(part name: String) -> Bool {
        if shown.contains(name) { return false }
        if hidden.contains(name) { return true }
        guard isOn else { return false }
        return Self.whole.contains(name) || Self.parts.contains { name.contains($0) }
            || Self.endings.contains { name.hasSuffix($0) }
    }

    // MARK: Values

    /// A value without its secrets; with `keepsMatchers`, a file's, whose matchers go on saying what they say.
    func redact(_ value: JSONValue, named name: String? = nil, keepsMatchers: Bool = false) -> JSONValue {
        if let name, isSecret(name), !Complaint.isOne(value) {
            return keepsMatchers && ValueMatcher.isHarmless(value) ? value : hide(value, named: name)
        }
        switch value {
        case .null, .bool: return value
        case .integer, .double: return texts.contains(value.text) ? .string(Self.marker) : value
        case .string(let text): return .string(redact(text))
        case .array(let elements): return .array(elements.map { redact($0, keepsMatchers: keepsMatchers) })
        case .object(let members):
            let pairs = members.map { (replaceTexts(in: $0.text), redact($1, named: $0.text, keepsMatchers: keepsMatchers)) }
            return JSONValue(members: pairs)
        }
    }

    /// A text without its secrets: inside JSON by their names, elsewhere what stands behind a name.
    func redact(_ text: String) -> String {
        if let json = JSONValue(container: text) {
            let redacted = redact(json)
            return redacted == json ? text : redacted.text
        }
        let text = replaceTexts(in: text)
        return isOn || !hidden.isEmpty ? RedactionScanner(text, self).run() : text
    }

    /// An address without its secrets.
    func redact(url: String) -> String {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return ([redact(String(parts[0]))] + parts.dropFirst().map { redact(fields: String($0)) }).joined(separator: "?")
    }

    /// A query or a form without its secrets.
    func redact(fields text: String) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { field in
            guard let (name, value) = RecordedRequest.fields(of: String(field)).first else { return String(field) }
            let redacted = redact(value, named: name)
            let shown = replaceTexts(in: name)
            let isWithout = (name: shown == name, value: redacted == value)
            return String(isWithout.name ? field.prefix { $0 != "=" } : shown[...])
                + (isWithout.value ? field.drop { $0 != "=" } : "=\(redacted)")
        }.joined(separator: "&")
    }

    /// A field's value.
    func redact(_ text: String, named name: String) -> String {
        isSecret(name) ? hide(text, named: name) : redact(text)
    }

    private func replaceTexts(in text: String) -> String {
        let text = texts.reduce(text) { $0.replacing($1, with: Self.marker) }
        guard let encodedTexts, text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let range = NSRange(location: 0, length: text.utf16.count)
        return encodedTexts.stringByReplacingMatches(in: text, range: range, withTemplate: Self.marker)
    }

    /// Each character by itself or percent-encoded: which ones are depends on who wrote the text.
    private static func patternOfEncoded(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            let encoded = String(scalar).utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return "(?:\(NSRegularExpression.escapedPattern(for: String(scalar)))|(?i:\(encoded)))"
        }.joined()
    }

    private func hide(_ value: JSONValue, named name: String) -> JSONValue {
        switch value {
        case .null: .null
        case .string(let text): .string(hide(text, named: name))
        case .bool, .integer, .double, .array, .object: .string(Self.marker)
        }
    }

    /// `auth` holds an app's key and a signature: which app it is may be seen.
    func hide(_ text: String, named name: String) -> String {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let isKey = { (key: Substring) in
            !key.isEmpty && key.utf8.count <= 64 && key.allSatisfy { $0.isLetter || $0.isNumber || "-_".contains($0) }
        }
        guard Self.normalize(name) == "auth", parts.count == 2, isKey(parts[0]) else {
            return text.isEmpty ? text : Self.marker
        }
        return replaceTexts(in: "\(parts[0]):\(Self.marker)")
    }
}
