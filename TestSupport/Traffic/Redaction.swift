import Foundation
import PusherChannels

/// The parts of the traffic that are hidden in files, exports and messages: secrets, recognized by their names.
///
/// Values are hidden as soon as they are recorded, so a recorder never holds them, and again when a file is read, so that an
/// older file shows no secret either. A hidden value is written ``marker``, which matches any value but an empty one.
///
/// ```swift
/// let redaction = Redaction.standard.hiding(names: ["iban"], texts: ["correct horse"]).showing(names: ["page_token"])
/// ```
public struct Redaction: Sendable {
    /// The text that replaces a hidden value.
    public static let marker = "<redacted>"

    /// A redaction that hides signatures (for `auth`, the key is kept), shared secrets, secret keys, passwords, tokens, session
    /// IDs, cookies and authorization headers, wherever a value has such a name: in a query, a form, JSON at any depth, a header
    /// or a text. The `value` and the `content` of a JSON object also have the name in its `name` or `key`, and those of a tag in
    /// a text the names in its other attributes.
    public static let standard = Redaction(isOn: true)

    /// A redaction that hides nothing. It is for made-up traffic, never for credentials that are valid somewhere.
    public static let none = Redaction(isOn: false)

    private let isOn: Bool
    private var hidden: Set<String> = []
    private var shown: Set<String> = []
    private var texts: [String] = []
    /// A pattern for the texts with any of their characters percent-encoded.
    private var encodedTexts: NSRegularExpression?

    private init(isOn: Bool) {
        self.isOn = isOn
    }

    /// Returns a redaction that also hides values with these names, and these texts wherever they appear. Case, `-` and `_` in
    /// names don't matter.
    public func hiding(names: [String] = [], texts: [String] = []) -> Redaction {
        var redaction = self
        redaction.hidden.formUnion(names.map(Self.normalize))
        // Longer ones come first, because one may be part of another.
        redaction.texts = (self.texts + texts.filter { !$0.isEmpty }).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
        let pattern = redaction.texts.map(Self.patternOfEncoded).joined(separator: "|")
        redaction.encodedTexts = pattern.isEmpty ? nil : try? NSRegularExpression(pattern: pattern)
        return redaction
    }

    /// Returns a redaction that shows values with these names.
    public func showing(names: [String]) -> Redaction {
        var redaction = self
        redaction.shown.formUnion(names.map(Self.normalize))
        return redaction
    }

    // MARK: Names

    private static let whole: Set<String> = [
        "auth", "cookie", "setcookie", "pass", "passcode", "pwd", "otp", "jwt", "sid", "sig", "hmac", "xauthkey",
    ]
    private static let parts = [
        "password", "passwd", "passphrase", "secret", "signature", "authorization", "credential", "apikey", "accesskey",
        "privatekey", "masterkey", "signingkey", "encryptionkey",
    ]
    private static let endings = ["token", "tokens", "sessionid"]

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

    func hides(_ name: String?) -> Bool { name.map { isSecret($0) } ?? false }

    /// Returns the name that says whether a member's value is a secret. As in `{"name": "password", "value": "…"}`, it may be a
    /// value, too.
    func nameOfValue(_ name: String, in members: [Name: JSONValue]) -> String {
        guard Self.isValueOfPair(name) else { return name }
        return [members["name"], members["key"]].compactMap { $0?.stringValue }.first { isSecret($0) } ?? name
    }

    /// Returns whether a name says that the name of its value is a value, too.
    static func isValueOfPair(_ name: String) -> Bool { ["value", "content"].contains(name.lowercased()) }

    // MARK: Values

    /// Returns a value without its secrets. With `keepsMatchers`, which is for a file's value, matchers keep their meaning.
    func redact(_ value: JSONValue, named name: String? = nil, keepsMatchers: Bool = false) -> JSONValue {
        if let name, isSecret(name), !Complaint.isOne(value) {
            return keepsMatchers && ValueMatcher.isHarmless(value) ? value : hide(value, named: name)
        }
        switch value {
        case .null, .bool: return value
        case .number: return texts.contains(value.text) ? .string(Self.marker) : value
        case .string(let text): return .string(redact(text))
        case .array(let elements): return .array(elements.map { redact($0, keepsMatchers: keepsMatchers) })
        case .object(let members):
            let pairs = members.map { name, value -> (String, JSONValue) in
                let valueName = nameOfValue(name.text, in: members)
                return (replaceTexts(in: name.text), redact(value, named: valueName, keepsMatchers: keepsMatchers))
            }
            return JSONValue(members: pairs)
        }
    }

    /// Returns a text without its secrets: in JSON, the values with secret names; elsewhere, the text after such names.
    func redact(_ text: String) -> String {
        if let json = JSONValue(container: text) {
            let redacted = redact(json)
            return redacted == json ? text : redacted.text
        }
        let text = replaceTexts(in: text)
        return isOn || !hidden.isEmpty ? RedactionScanner(text, self).run() : text
    }

    /// Returns an address without its secrets.
    func redact(url: String) -> String {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return ([redact(String(parts[0]))] + parts.dropFirst().map { redact(fields: String($0)) }).joined(separator: "?")
    }

    /// Returns a query or a form without its secrets.
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

    /// Returns a field's value without its secrets.
    func redact(_ text: String, named name: String) -> String {
        isSecret(name) ? hide(text, named: name) : redact(text)
    }

    private func replaceTexts(in text: String) -> String {
        // By bytes: an accent after a secret makes its last character another one, and not the secret.
        let text = texts.reduce(text) {
            String(decoding: Array($0.utf8).replacing($1.utf8, with: Self.marker.utf8), as: UTF8.self)
        }
        guard let encodedTexts, text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let range = NSRange(location: 0, length: text.utf16.count)
        return encodedTexts.stringByReplacingMatches(in: text, range: range, withTemplate: Self.marker)
    }

    /// Returns a pattern for the text with each character as it is or percent-encoded, because writers differ in the characters
    /// that they encode.
    private static func patternOfEncoded(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            let encoded = String(scalar).utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return "(?:\(NSRegularExpression.escapedPattern(for: String(scalar)))|(?i:\(encoded)))"
        }.joined()
    }

    private func hide(_ value: JSONValue, named name: String) -> JSONValue {
        switch value {
        // A yes or no is no secret.
        case .null, .bool: value
        case .string(let text): .string(hide(text, named: name))
        case .number, .array, .object: .string(Self.marker)
        }
    }

    /// Hides a secret's text. `auth` holds an app's key and a signature; the key stays visible.
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
