import Testing

@testable import PusherChannels

@Suite struct JSONScannerTests {
    @Test(arguments: [
        (true, JSONDocuments.valid + JSONDocuments.hereOnly), (false, JSONDocuments.invalid + JSONDocuments.foundationOnly),
    ])
    func `A valid JSON document is accepted by the scanner, and an invalid one is refused`(isValid: Bool, documents: [String]) {
        for document in documents {
            #expect((JSONScanner.problem(in: document.utf8) == nil) == isValid, "\(document.debugDescription)")
        }
    }

    @Test(arguments: JSONDocuments.whole)
    func `A JSON document that is cut off anywhere is refused by the scanner`(document: String) {
        let bytes = Array(document.utf8)
        #expect(bytes.indices.filter { JSONScanner.problem(in: bytes[..<$0]) == nil } == [])
    }

    @Test(arguments: [
        ("", 0, "expected a value"),
        ("  x", 2, "expected a value"),
        ("nulL", 0, "expected a value"),
        ("-", 1, "expected a value"),
        ("01", 1, "text after the document"),
        ("1.x", 2, "expected digits after the point"),
        ("1e+", 3, "expected an exponent"),
        ("{} {}", 3, "text after the document"),
        ("[1 2]", 3, "expected a comma"),
        ("{\"a\":1 \"b\"", 7, "expected a comma"),
        ("{\"a\" 1}", 5, "expected a colon"),
        ("{a", 1, "expected a string"),
        ("\"abc", 4, "unterminated string"),
        ("\"a\u{1}\"", 2, "control character in a string"),
        ("\"a\\x\"", 3, "bad escape"),
        ("\"\\u12", 2, "incomplete escape"),
        ("\"\\u12x4\"", 2, "bad \\u escape"),
    ])
    func `A JSON error says what the problem is and at which byte`(text: String, offset: Int, problem: String) {
        let error = JSONScanner.problem(in: text.utf8)
        #expect(error == JSONError(offset: offset, problem: problem))
        #expect(error?.description == "\(problem) at byte \(offset)")
    }

    /// Strings are read eight bytes at a time; a byte that ends them is found at every place of a word, and no other byte is.
    @Test func `A JSON string ends at its quote, at any distance from its start`() {
        for length in 0...24 {
            let text = "\"" + String(repeating: "~", count: length) + "\" tail \" tail"
            let token = JSONScanner.read(text.utf8) { scanner throws(JSONError) in
                let token = try scanner.scanString()
                return [token.start, token.end, scanner.position]
            }
            #expect(token == .success([1, 1 + length, 2 + length]))
        }
    }

    @Test(arguments: 0...17)
    func `At any position in a JSON string, a control character is refused and any other byte accepted`(place: Int) {
        for byte in UInt8(0)...0xFF where byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
            var bytes = Array("\"~~~~~~~~~~~~~~~~~~\"".utf8)
            bytes[1 + place] = byte
            let refusal = JSONError(offset: 1 + place, problem: "control character in a string")
            #expect(JSONScanner.problem(in: bytes) == (byte < 0x20 ? refusal : nil), "\(byte)")
        }
    }

    @Test(arguments: [("[", "]"), ("{\"a\":", "}"), (" [ ", " ] ")])
    func `A JSON document nested deeper than the limit is refused by the scanner and the parser`(open: String, close: String) {
        for excess in [0, 1] {
            let document = JSONDocuments.nested(open, close, depth: JSONScanner.maximumDepth + excess, inner: "1")
            #expect(JSONScanner.problem(in: document.utf8)?.problem == (excess == 0 ? nil : "nested too deeply"))
            #expect((JSONValue(ifJSON: document) != nil) == (excess == 0))
        }
    }

    @Test(arguments: [[0xEF, 0xBB, 0xBF, 0x31], [0xFF], [0x80], [0xFE, 0xFF, 0x00, 0x31], [0x31, 0x00], [0x00]] as [[UInt8]])
    func `A byte order mark, NUL, or other stray byte outside of JSON strings is refused`(bytes: [UInt8]) {
        #expect(JSONScanner.problem(in: bytes) != nil)
    }
}

/// This package's JSON and Foundation's read documents alike: both accept or refuse them, with the same result.
///
/// The differences are listed, each case with its reason: ``JSONDocuments/foundationOnly``, ``JSONDocuments/hereOnly``, and
/// ``JSONDifferences``.
@Suite struct JSONAgainstFoundationTests {
    @Test(arguments: JSONDocuments.valid + JSONDocuments.invalid + JSONDocuments.foundationOnly + JSONDocuments.hereOnly)
    func `A JSON document is read alike here and by Foundation, apart from the known differences`(document: String) {
        #expect(FoundationJSON.disagreement(about: Array(document.utf8)) == nil)
    }

    @Test(arguments: 1...8)
    func `Mutated JSON documents are read alike here and by Foundation`(seed: UInt64) {
        var mutation = Mutation(seed: seed)
        var accepted = 0
        for _ in 1...1000 {
            let bytes = mutation.next(of: JSONDocuments.valid)
            guard String(validating: bytes, as: UTF8.self) != nil else { continue }
            if JSONScanner.problem(in: bytes) == nil { accepted += 1 }
            if let disagreement = FoundationJSON.disagreement(about: bytes) { Issue.record("seed \(seed): \(disagreement)") }
        }
        #expect(accepted > 50, "too few mutations were valid for the comparison to mean much")
    }

    /// The scanner, the value and the raw member read the same grammar, each with its own loop.
    @Test(arguments: 11...18)
    func `The scanner, the value, and the raw member agree on mutated JSON documents`(seed: UInt64) {
        let documents = JSONDocuments.valid.filter { $0.contains("\"a\"") } + ["{}", "{\"a\":1}"]
        var mutation = Mutation(seed: seed)
        for _ in 1...1000 {
            let bytes = mutation.next(of: documents)
            let text = String(decoding: bytes, as: UTF8.self)
            let value = JSONValue(ifJSON: text)
            #expect((JSONScanner.problem(in: bytes) == nil) == (value != nil), "\(text.debugDescription)")
            #expect(rawJSONMember("a", of: text).flatMap(JSONValue.init(ifJSON:)) == value?["a"], "\(text.debugDescription)")
        }
    }
}
