import Testing

@testable import PusherChannels

@Suite struct JSONValueTests {
    @Test(
        arguments: [
            ("null", .null), ("true", true), ("false", false), ("\"s\"", "s"), ("[]", []), ("{}", [:]),
            (" [ 1 , [ ] , { } ] ", [1, [], [:]]),
            ("\t{\"a\" :\r\n[true,null,\"x\"]}\n", ["a": [true, .null, "x"]]),
            (#"{"a":{"b":{"c":-1}}}"#, ["a": ["b": ["c": -1]]]),
            (#"{"\u0061":1,"é":2,"":3}"#, ["a": 1, "é": 2, "": 3]),
            (#""{\"a\":1}""#, #"{"a":1}"#),
        ] as [(String, JSONValue)])
    func documentIsItsValue(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test(arguments: JSONDocuments.valid + JSONDocuments.hereOnly)
    func validDocumentIsParsed(document: String) {
        #expect(throws: Never.self) { try JSONValue(parsing: document) }
    }

    @Test(arguments: JSONDocuments.invalid + JSONDocuments.foundationOnly)
    func invalidDocumentIsRefused(document: String) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: document) }
    }

    @Test(arguments: JSONDocuments.whole)
    func documentCutAnywhereIsRefused(document: String) {
        let accepted = document.unicodeScalars.indices.filter { JSONValue(ifJSON: String(document[..<$0])) != nil }
        #expect(accepted.isEmpty)
    }

    @Test func lastOfSeveralMembersCounts() throws {
        #expect(try JSONValue(parsing: #"{"a":1,"b":2,"a":3,"\u0061":4}"#) == ["a": 4, "b": 2])
    }

    @Test(arguments: [
        ("\"10\"", "10"), ("10", "10"), ("-1", "-1"), ("12345678901234567890", "12345678901234567890"), ("1.50", "1.50"),
        ("true", nil), ("null", nil), ("[]", nil), ("{}", nil),
    ])
    func identifierIsAStringOrTheTextOfANumber(text: String, identifier: String?) throws {
        #expect(try JSONValue(parsing: text).identifier == identifier)
    }

    // MARK: Parts

    @Test func eachKindGivesItsOwnContentOnly() {
        let values: [JSONValue] = [.null, true, 1, .double(0.5), "s", [1], ["a": 1]]
        #expect(values.map(\.boolValue) == [nil, true, nil, nil, nil, nil, nil])
        #expect(values.map(\.stringValue) == [nil, nil, nil, nil, "s", nil, nil])
        #expect(values.map(\.arrayValue) == [nil, nil, nil, nil, nil, [1], nil])
        #expect(values.map(\.objectValue) == [nil, nil, nil, nil, nil, nil, ["a": 1]])
        #expect(values.map { $0["a"] } == [nil, nil, nil, nil, nil, nil, 1])
    }

    // MARK: Text

    @Test(
        arguments: [
            (.null, "null"), (true, "true"), (-1, "-1"), (.double(0.5), "0.5"), (.double(1e300), "1e+300"),
            ("a\"b\n", #""a\"b\n""#),
            ([], "[]"), ([1, [.null, "x"]], #"[1,[null,"x"]]"#),
            ([:], "{}"), (["b": 1, "a": ["c": false]], #"{"a":{"c":false},"b":1}"#),
            (.double(.infinity), "null"), (.double(.nan), "null"),
        ] as [(JSONValue, String)])
    func textIsCompactAndInOrder(value: JSONValue, text: String) {
        #expect(value.text == text)
    }

    @Test(arguments: JSONDocuments.valid)
    func textHoldsTheSameValue(document: String) throws {
        let value = try JSONValue(parsing: document)
        #expect(try JSONValue(parsing: value.text) == value)
    }

    // MARK: Depth

    @Test(arguments: [("[", "]"), ("{\"a\":", "}")])
    func depthIsLimited(open: String, close: String) {
        let limit = JSONScanner.maximumDepth
        #expect(JSONValue(ifJSON: JSONDocuments.nested(open, close, depth: limit, inner: "1")) != nil)
        #expect(JSONValue(ifJSON: JSONDocuments.nested(open, close, depth: limit + 1, inner: "1")) == nil)
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
    func absurdDepthEndsInAnError(open: String) {
        let problem = Result { try JSONValue(parsing: String(repeating: open, count: 100_000)) }
        guard case .failure(let error as JSONError) = problem else {
            Issue.record("parsed")
            return
        }
        #expect(error.problem == "nested too deeply")
    }
}
