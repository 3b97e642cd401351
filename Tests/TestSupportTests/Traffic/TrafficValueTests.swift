import TestSupport
import Testing

/// The meaning of a value in a file: each line passes with the first bodies and fails with the second ones.
struct TrafficValueTests {
    private let rig = TrafficRig()

    struct Rule: CustomTestStringConvertible, Sendable {
        let expected: String
        let passing: [String]
        let failing: [String]
        var testDescription: String { expected }
    }

    static let rules = [
        Rule(expected: #""a""#, passing: [#""a""#], failing: [#""b""#, #""ab""#, #""xa""#, "null", #"["a"]"#]),
        Rule(
            expected: #""[0-9]+""#, passing: [#""42""#, "42", #""[0-9]+""#],
            failing: [#""42x""#, #""x42""#, "-1", "true", #""""#]),
        Rule(expected: #""a|ab""#, passing: [#""a""#, #""ab""#], failing: [#""abc""#, #""b""#]),
        Rule(expected: #""1.5""#, passing: ["1.5", #""1.5""#], failing: ["15", "2"]),
        Rule(expected: "1", passing: ["1", "1.0"], failing: ["2", #""1""#, "true", "null"]),
        Rule(expected: "100", passing: ["1e2", "100.00", "1.0E+02"], failing: ["1e3", "100.00000000000000000001"]),
        Rule(
            expected: "12345678901234567890", passing: ["12345678901234567890", "1234567890123456789e1"],
            failing: ["12345678901234567891", "12345678901234568000", "1.2345678901234567e+19"]),
        Rule(expected: "1e999999999", passing: ["10e999999998"], failing: ["1e999999998", "1e-999999999", "1"]),
        Rule(expected: "true", passing: ["true"], failing: ["false", "1", #""true""#]),
        Rule(expected: "null", passing: ["null"], failing: ["0", #""""#, "{}"]),
        Rule(expected: #"{"$regex": "b+"}"#, passing: [#""bb""#], failing: [#""abb""#, #""bbc""#, "{}", "null"]),
        Rule(expected: #"{"$regex": "[1-3]"}"#, passing: ["2"], failing: ["4", "22", "true"]),
        Rule(expected: #"{"$any": true}"#, passing: ["1", "null", "{}", #"[1, "a"]"#], failing: []),
        Rule(expected: #"{"$type": "number"}"#, passing: ["1", "1.5"], failing: [#""1""#, "null"]),
        Rule(expected: #"{"$type": "string"}"#, passing: [#""1""#, #""""#], failing: ["1", "null"]),
        Rule(expected: #"{"$type": "bool"}"#, passing: ["true", "false"], failing: ["1", #""true""#]),
        Rule(expected: #"{"$type": "object"}"#, passing: ["{}", #"{"a": 1}"#], failing: ["[]", "null"]),
        Rule(expected: #"{"$type": "array"}"#, passing: ["[]", "[1]"], failing: ["{}", #""[]""#]),
        Rule(expected: #"{"$type": "null"}"#, passing: ["null"], failing: ["0", "{}"]),
        Rule(expected: #"{"$literal": {"$any": true}}"#, passing: [#"{"$any": true}"#], failing: ["1", #"{"$any": 1}"#]),
        Rule(expected: "[1, 2]", passing: ["[1, 2]"], failing: ["[2, 1]", "[1]", "[1, 2, 3]", "[]", "1"]),
        Rule(expected: #"["[a-z]", {"$any": true}]"#, passing: [#"["q", 7]"#], failing: [#"["Q", 7]"#, #"["q"]"#]),
        Rule(
            expected: #"{"$unordered": ["[a-z]", "q"]}"#, passing: [#"["q", "a"]"#, #"["a", "q"]"#],
            failing: [#"["a", "b"]"#, #"["q"]"#, #"["q", "a", "b"]"#, #""q""#]),
        Rule(
            expected: #"{"a": {"b": "x*"}}"#, passing: [#"{"a": {"b": "xx", "c": 1}}"#],
            failing: [#"{"a": {}}"#, #"{"a": {"b": "y"}}"#]),
        Rule(expected: #"{"a": {"$absent": true}}"#, passing: ["{}", #"{"b": 1}"#], failing: [#"{"a": 1}"#, #"{"a": null}"#]),
        Rule(expected: #"{"$browser": "x"}"#, passing: [#"{"$browser": "x"}"#], failing: [#"{"$browser": "y"}"#, "{}"]),
        Rule(expected: #""<redacted>""#, passing: ["1", #""a""#, "{}"], failing: ["null", #""""#]),
        Rule(expected: #""key:<redacted>""#, passing: [#""key:0af3""#], failing: [#""yek:0af3""#, #""key""#]),
    ]

    @Test(arguments: rules) func `A file's value passes with the bodies it describes and fails with others`(rule: Rule) throws {
        for (bodies, passes) in [(rule.passing, true), (rule.failing, false)] {
            for body in bodies {
                let rig = TrafficRig(redaction: .none)
                rig.post(#"{"value": \#(body)}"#)
                let mismatch = try rig.mismatch(#"[{"body": {"value": \#(rule.expected)}}]"#)
                #expect((mismatch == nil) == passes, "\(rule.expected) with \(body)")
            }
        }
    }

    @Test func `Patterns apply to addresses, methods, and parameters`() throws {
        rig.recorder.record(RecordedRequest(method: "PUT", url: "https://api.example.com/tracks/12?page=3"))
        let file = { (url: String, method: String, page: String) in
            #"[{"url": "\#(url)", "method": "\#(method)", "parameters": {"page": "\#(page)"}}]"#
        }
        #expect(try rig.mismatch(file("https://api.example.com/tracks/[0-9]+", "PUT|POST", "[0-9]")) == nil)
        #expect(try rig.paths(file("https://api.example.com/tracks/[a-z]+", "put", "[0-9]")) == ["url"])
        #expect(try rig.paths(file("https://api.example.com/tracks/[0-9]+", "GET|POST", "[0-9]")) == ["method"])
        #expect(try rig.paths(file("https://api.example.com/tracks/[0-9]+", "PUT", "[a-z]")) == ["parameters.page"])
    }

    @Test func `An array's differences name the elements that differ, also in depth`() throws {
        rig.post(#"{"tracks": [1, 2], "deep": [{"id": 1}]}"#)
        for (tracks, id, paths) in [
            ("[1, 2]", 1, []), ("[1, 3]", 1, ["body.tracks[1]"]), ("[1]", 1, ["body.tracks[1]"]),
            ("[1, 2, 3]", 1, ["body.tracks[2]"]), ("[1, 2]", 2, ["body.deep[0].id"]),
        ] as [(String, Int, [String])] {
            let body = #"{"tracks": \#(tracks), "deep": [{"id": \#(id)}]}"#
            #expect(try rig.paths(#"[{"url": "https://api.example.com/events", "body": \#(body)}]"#) == paths)
        }
    }

    @Test func `A pattern must match the whole text, including line breaks`() throws {
        rig.post(#"{"text": "one\ntwo"}"#)
        #expect(try rig.paths(#"[{"body": {"text": "one"}}]"#) == ["body.text"])
        #expect(try rig.mismatch(#"[{"body": {"text": "one\\stwo"}}]"#) == nil)
    }

    @Test func `An invalid $regex is reported with its path before anything is compared`() throws {
        let error = try rig.complaint(about: #"[{"body": {"items": [{"name": {"$regex": "a(b"}}]}}]"#)
        #expect(error?.kind == .badPattern(path: "[0].body.items[0].name"))
        #expect(error?.description.contains("[0].body.items[0].name") == true)
    }

    @Test func `A $regex with unbalanced parentheses is refused`() throws {
        rig.post(#"{"a": "xyz"}"#)
        #expect(try rig.complaint(about: #"[{"body": {"a": {"$regex": "x)|(z"}}}]"#) != nil)
    }

    @Test func `A text that is no valid pattern stands for itself, and a difference says so`() throws {
        rig.post(#"{"smile": ":-("}"#)
        #expect(try rig.mismatch(#"[{"body": {"smile": ":-("}}]"#) == nil)
        let mismatch = try rig.mismatch(#"[{"body": {"smile": ";-("}}]"#)
        #expect(mismatch?.differences.flatMap(\.paths) == ["body.smile"])
        #expect(mismatch?.description.contains("can't be used as a pattern") == true)
    }

    @Test(arguments: ["(a+)+", "(a|aa)+", "(.*a){20}"]) func `A pattern with too many ways to match is given up and reported`(
        pattern: String
    ) throws {
        rig.post(#"{"a": "\#(String(repeating: "a", count: 60))b"}"#)
        let mismatch = try rig.mismatch(#"[{"url": "https://api.example.com/events", "body": {"a": "\#(pattern)"}}]"#)
        #expect(mismatch?.description.contains("too many ways to match") == true)
    }

    @Test(.timeLimit(.minutes(1))) func `Many entries are validated against a costly pattern within a minute`() throws {
        for number in 0..<20 { rig.post(#"{"a": "\#(String(repeating: "a", count: 60))\#(number)b"}"#) }
        let entry = #"{"body": {"a": "(a+)+"}}"#
        let mismatch = try rig.mismatch("[\(Array(repeating: entry, count: 20).joined(separator: ","))]")
        #expect(mismatch?.differences.count == 20)
    }

    @Test(arguments: [#"{"$type": "text"}"#, #"{"$any": false}"#, #"{"$absent": 1}"#, #"{"$regex": 1}"#, #"{"$unordered": 1}"#])
    func `An invalid matcher is reported with its path`(matcher: String) throws {
        let error = try rig.complaint(about: #"[{}, {"parameters": {"two words": \#(matcher)}}]"#)
        #expect(error?.kind == .malformedFile(path: #"[1].parameters["two words"]"#))
    }
}
