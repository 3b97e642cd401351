import Testing

@testable import PusherChannels

/// This package's JSON and Foundation's read documents alike: both accept or refuse them, with the same result.
///
/// The differences are listed, each case with its reason: ``JSONDocuments/foundationOnly``, ``JSONDocuments/hereOnly``, and
/// ``JSONDifferences``.
@Suite struct JSONAgainstFoundationTests {
    // MARK: The corpus

    @Test(arguments: JSONDocuments.valid)
    func validDocumentMeansTheSame(document: String) throws {
        let theirs = try #require(FoundationJSON.value(of: Array(document.utf8)))
        #expect(FoundationJSON.isSame(try JSONValue(parsing: document), theirs))
    }

    @Test(arguments: JSONDocuments.invalid)
    func invalidDocumentIsRefusedByBoth(document: String) {
        #expect(JSONValue(ifJSON: document) == nil)
        #expect(FoundationJSON.value(of: Array(document.utf8)) == nil)
    }

    @Test(arguments: JSONDocuments.foundationOnly)
    func knownDifferenceIsAcceptedByFoundationOnly(document: String) {
        #expect(JSONValue(ifJSON: document) == nil)
        #expect(FoundationJSON.value(of: Array(document.utf8)) != nil, "Foundation has changed: the difference can go")
    }

    @Test(arguments: JSONDocuments.hereOnly)
    func knownDifferenceIsAcceptedHereOnly(document: String) {
        #expect(JSONValue(ifJSON: document) != nil)
        #expect(FoundationJSON.value(of: Array(document.utf8)) == nil, "Foundation has changed: the difference can go")
    }

    @Test(arguments: ["\"\u{FEFF}a\"", #""a\n"# + "\u{FEFF}b\""])
    func aByteOrderMarkIsPartOfATextHereOnly(document: String) throws {
        let text = try #require(JSONValue(parsing: document).stringValue)
        #expect(text.unicodeScalars.contains("\u{FEFF}"))
        let bytes = Array(document.utf8)
        let theirs = try #require(FoundationJSON.value(of: bytes)?.stringValue)
        #expect(!theirs.unicodeScalars.contains("\u{FEFF}"), "Foundation has changed: the difference can go")
        #expect(FoundationJSON.disagreement(about: bytes) == nil)
    }

    // MARK: Mutations

    @Test(arguments: 1...8)
    func mutationsMeanTheSame(seed: UInt64) {
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
    func readersOfThePackageAgree(seed: UInt64) {
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
