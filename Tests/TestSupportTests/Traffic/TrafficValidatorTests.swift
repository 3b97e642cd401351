import Foundation
import TestSupport
import Testing

struct TrafficValidatorTests {
    private let rig = TrafficRig()

    // MARK: Subset and exact

    @Test func `Fields missing in the file are ignored by subset and are differences for exact`() throws {
        rig.post(#"{"name": "open", "screen": {"id": 1, "title": "Home"}}"#, to: "https://api.example.com/events?v=2")
        let file = #"[{"url": "https://api.example.com/events", "body": {"name": "open", "screen": {"id": 1}}}]"#
        #expect(try rig.mismatch(file) == nil)
        #expect(try rig.paths(file, using: .exact) == ["body.screen.title", "parameters"])
    }

    @Test func `The exact validator requires all parameters, but no method, headers, or status`() throws {
        let (url, body) = ("https://a.example/x?q=1", Data(#"{"n":1}"#.utf8))
        rig.recorder.record(RecordedRequest(method: "POST", url: url, headers: ["Accept": "*/*"], body: body))
        try rig.recorder.record(to: "traffic.json")
        try rig.recorder.validate(against: "traffic.json", using: .exact)
        for (parameters, paths) in [(#""q": "1""#, []), ("", ["parameters.q"])] as [(String, [String])] {
            let file = #"[{"url": "https://a.example/x", "parameters": {\#(parameters)}, "body": {"n": 1}}]"#
            #expect(try rig.paths(file, using: .exact) == paths)
        }
    }

    @Test func `Header fields are compared one by one, ignoring case`() throws {
        rig.recorder.record(RecordedRequest(url: "https://a.example/", headers: ["X-Version": "2", "Accept": "*/*"]))
        let file = { (name: String, value: String) in
            #"[{"url": "https://a.example/", "headers": {"\#(name)": "\#(value)"}}]"#
        }
        for validator in [TrafficValidator.subset, .exact] {
            #expect(try rig.mismatch(file("x-VERSION", "[0-9]"), using: validator) == nil)
            #expect(try rig.paths(file("X-Version", "3"), using: validator) == ["headers.x-version"])
            #expect(try rig.paths(file("X-Other", "3"), using: validator) == ["headers.x-other"])
        }
    }

    @Test func `A file can require that parameters and body are absent`() throws {
        rig.get("https://a.example/")
        let file = #"[{"url": "https://a.example/", "parameters": {"$absent": true}, "body": {"$absent": true}}]"#
        for validator in [TrafficValidator.subset, .exact] { #expect(try rig.mismatch(file, using: validator) == nil) }
        rig.recorder.start()
        rig.post(#"{"a": 1}"#, to: "https://a.example/?q=1")
        for validator in [TrafficValidator.subset, .exact] {
            #expect(try rig.paths(file, using: validator) == ["body", "parameters"])
        }
    }

    @Test func `A status is compared if the file has one`() throws {
        let session = MockSession(delivery: .immediate)
        session.stub(.any, .http(404))
        try rig.recorder.recording(session).ask("https://a.example/")
        #expect(try rig.mismatch(#"[{"status": 404}]"#) == nil)
        #expect(try rig.paths(#"[{"url": "https://a.example/", "status": 200}]"#) == ["status"])
    }

    // MARK: Counts and order

    @Test(arguments: [TrafficValidator.subset, .exact, .subset.ordered, .exact.ordered])
    func `Missing and unexpected entries are told apart`(validator: TrafficValidator) throws {
        rig.get("https://a.example/1", "https://a.example/2", "https://b.example/x?y=1")
        let entry = { (url: String) in #"{"url": "\#(url)", "parameters": {}, "body": {}}"# }
        let files = ["https://a.example/1", "https://c.example/entirely/else", "https://a.example/2"].map(entry)
        let mismatch = try rig.mismatch("[\(files.joined(separator: ","))]", using: validator)
        let missing = TrafficMismatch.Difference.missing(position: 2, entry: "https://c.example/entirely/else")
        #expect(mismatch?.differences == [missing, .unexpected(position: 3, entry: "GET https://b.example/x")])
    }

    @Test(arguments: [TrafficValidator.subset, .exact, .subset.ordered, .exact.ordered])
    func `Equal entries must occur as often as in the file`(validator: TrafficValidator) throws {
        rig.get("https://a.example/", "https://a.example/")
        let entry = #"{"url": "https://a.example/"}"#
        #expect(try rig.mismatch("[\(entry), \(entry)]", using: validator) == nil)
        #expect(try rig.paths("[\(entry)]", using: validator) == ["unexpected 2"])
        #expect(try rig.paths("[\(entry), \(entry), \(entry)]", using: validator) == ["missing 3"])
    }

    @Test func `A general pattern leaves a request to the specific one that needs it, unless ordered`() throws {
        rig.get("https://a.example/1", "https://a.example/x")
        let file = #"[{"url": "https://a.example/."}, {"url": "https://a.example/[0-9]"}]"#
        #expect(try rig.mismatch(file) == nil)
        #expect(try rig.mismatch(file, using: .subset.ordered) != nil)
    }

    @Test(arguments: [TrafficValidator.subset, .subset.ordered])
    func `One difference among two hundred entries is the only one found, in order or not`(
        validator: TrafficValidator
    ) throws {
        let entries = (0..<200).map {
            #"{"url": "https://a.example/\#($0)", "parameters": {"n": "[0-9]+", "even": "\#($0 % 2 == 0)"}}"#
        }
        for number in 0..<200 { rig.get("https://a.example/\(number)?n=\(number)&even=\(number % 2 == 0 && number != 128)") }
        let mismatch = try rig.mismatch("[\(entries.joined(separator: ","))]", using: validator)
        #expect(mismatch?.differences.count == 1)
        #expect(mismatch?.differences.flatMap(\.paths) == ["parameters.even"])
        #expect(mismatch?.description.contains("Entry 129, https://a.example/128") == true)
    }

    @Test func `The order of entries matters only to ordered validators`() throws {
        rig.get("https://a.example/2", "https://a.example/1", "https://a.example/3")
        let file = #"[{"url": "https://a.example/1"}, {"url": "https://a.example/2"}, {"url": "https://a.example/3"}]"#
        #expect(try rig.mismatch(file) == nil)
        #expect(try rig.mismatch(file, using: .exact) == nil)
        #expect(try rig.paths(file, using: .subset.ordered) == ["moved 1 to 2"])
        #expect(try rig.paths(file, using: .exact.ordered) == ["moved 1 to 2"])
    }

    @Test func `A missing entry doesn't shift the entries after it`() throws {
        rig.get("https://a.example/2", "https://a.example/3")
        let urls = ["1/very/different", "2", "3"].map { #"{"url": "https://a.example/\#($0)"}"# }
        let file = "[\(urls.joined(separator: ","))]"
        #expect(try rig.paths(file, using: .subset.ordered) == ["missing 1"])
    }

    @Test func `A difference is reported for the entry that is most similar`() throws {
        rig.post(#"{"name": "tap", "button": "Stop", "n": 1}"#)
        rig.post(#"{"name": "open", "screen": "Home", "n": 3}"#)
        let mismatch = try rig.mismatch(
            #"""
            [{"url": "https://api.example.com/events", "body": {"name": "open", "screen": "Home", "n": 2}},
             {"url": "https://api.example.com/events", "body": {"name": "tap", "button": "Play", "n": 1}}]
            """#)
        #expect(mismatch?.differences.map(\.paths) == [["body.n"], ["body.button"]])
    }

    @Test func `A similar address is a difference of its entry, an unrelated one is unexpected`() throws {
        rig.get("https://api.example.com/tracks/12x", "https://ads.example.com/")
        let file = #"[{"url": "https://api.example.com/tracks/[0-9]+"}, {"url": "https://www.example.org/about/us"}]"#
        #expect(try rig.paths(file) == ["url", "missing 2", "unexpected 2"])
    }

    // MARK: Custom validators

    @Test func `A custom validator may report differences in the library's form`() throws {
        struct Never: Validator {
            func validate(recordedRequests: [TrafficEntry], localRequests: [TrafficEntry]) throws {
                let field = TrafficMismatch.Field(path: "body", expected: "less", got: "more")
                throw TrafficMismatch([.mismatched(position: 1, entry: recordedRequests[0].description, fields: [field])])
            }
        }
        rig.get("https://a.example/")
        let mismatch = try rig.mismatch("[]", using: Never())
        let text = "Entry 1, GET https://a.example/\n  body\n    expected: less\n    got:      more"
        #expect(mismatch?.description.hasSuffix(text) == true)
        #expect(mismatch?.file?.hasSuffix("/traffic.json") == true)
    }
}
