@testable import PusherChannels

/// Frames as real servers send them.
enum Frames {
    static let events = [
        #"{"event":"greet","channel":"room","data":"{\"text\":\"hello\"}"}"#,
        #"{"event":"greet","channel":"room","data":{"text":"hello"}}"#,
        #"{"data":"plain text","channel":"room","event":"greet"}"#,
        #"{"event":"client-typing","channel":"presence-room","data":"{}","user_id":"ann"}"#,
        #"{"event":"greet","channel":null,"data":null,"tags":{"a":[1,2]},"sequence":7}"#, #"{"event":"greet"}"#,
        "{\"event\":\"gr\u{FC}\u{DF}e \u{1F642}\",\"channel\":\"room\",\"data\":\"\\ud83d\\ude42\"}",
    ]

    static let controls = [
        #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"123.456\",\"activity_timeout\":120}"}"#,
        #"{"event":"pusher:error","data":{"message":"Over capacity","code":4100}}"#,
        #"{"event":"pusher:error","data":"{\"code\":4009,\"message\":\"Connection is unauthorized\"}"}"#,
        #"{"event":"pusher:ping","data":{}}"#, #"{"event":"pusher:pong"}"#,
        #"{"event":"pusher_internal:subscription_succeeded","channel":"room","data":"{}"}"#,
        #"{"event":"pusher_internal:subscription_succeeded","channel":"room","data":""}"#,
        #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-room","data":"{\"presence\":{\"ids\":[\"ann\"],\"hash\":{\"ann\":{\"n\":\"A\"}},\"count\":1}}"}"#,
        #"{"event":"pusher:subscription_error","channel":"private-room","data":{"type":"AuthError","error":"no","status":401}}"#,
        #"{"event":"pusher_internal:subscription_count","channel":"room","data":"{\"subscription_count\":3}"}"#,
        #"{"event":"pusher_internal:member_added","channel":"presence-room","data":"{\"user_id\":\"bob\",\"user_info\":{}}"}"#,
        #"{"event":"pusher_internal:member_removed","channel":"presence-room","data":"{\"user_id\":\"bob\"}"}"#,
        #"{"event":"pusher:cache_miss","channel":"cache-room"}"#,
        #"{"event":"pusher_internal:watchlist_events","data":{"events":[{"name":"online","user_ids":["1"]}]}}"#,
    ]

    static let all = events + controls
}

/// JSON texts for all tests of code that reads JSON.
enum JSONDocuments {
    /// Documents that are valid only as a whole: no shorter beginning of one is valid.
    static let whole = [
        "null", "true", "false", "\"\"", "\"text\"", "[]", "{}", "[1]", "[[],{},[{}]]", #"{"a":1}"#,
        #"{"a":{"b":{"c":[1,2,{"d":null}]}}}"#, #""quotes \" and \\ and \/ and \b\f\n\r\t""#,
        #""\u0041\u00e9\u20AC \ud83d\ude42 \u0000""#,
        "\"é € 🙂 \u{7F} \u{2028}\"", "[0,-0,1,-1,10,0.5,-0.25,1e3,1E+3,1e-3,12.5e10]",
        "[9223372036854775807,-9223372036854775808,9223372036854775808,123456789012345678901234567890]",
        " \t\r\n{ \"a\" : [ 1 , true , null ] , \"b\" : \"c\" }",
        #"{"":"the empty name","a":1,"a":2}"#, #"{"event":"e","channel":"c","data":"{\"n\":1,\"s\":\"a\\\"b\\\\c\"}"}"#,
        #"{"presence":{"ids":["11814b369700141b222a3f3791cec2d9"],"hash":{"11814b369700141b222a3f3791cec2d9":{"n":"A"}},"count":1}}"#,
    ]

    /// Valid documents whose beginnings are valid too, or that end in white space.
    static let open = ["0", "-0", "7", "-7", "1234567890", "0.5", "1e9", "1E-9", "2.5e+2", " 1", "1 ", "{}\n", "[]\t\r "]

    static let valid = whole + open

    static let invalid = [
        "", " ", "\n", "nul", "nulll", "NULL", "True", "tru", "undefined", "NaN", "Infinity", "-Infinity", "-NaN",
        "-", "+1", "01", "-01", "00", "1.", ".5", "-.5", "1e", "1e+", "1.e3", "0x10", "1_000", "1,5", "--1", "1-", "e3",
        "\"", "\"a", "a\"", "'a'", #""\""#, #""\x""#, #""\ ""#, #""\'""#, #""\0""#, #""\u""#, #""\u12""#,
        #""\u123g""#, #""\u 123""#, #""\U0041""#, #""\u+041""#, #""\ud83d"#, #""\ud83d\"#, #""\ud83d\u"#, #""\ud83d\udc"#,
        "\"a\u{0}b\"", "\"a\u{1F}b\"", "\"a\nb\"", "\"a\tb\"",
        "[", "]", "[1", "[1,", "[,1]", "[1,,2]", "[1 2]", "[1}", "[]]", "[1:2]",
        "{", "}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\" 1}", "{\"a\",1}", "{a:1}", "{1:1}", "{null:1}", "{,}", "{:1}",
        "{\"a\":}", "{\"a\":1]", "{\"a\":1 \"b\":2}", "{\"a\"::1}", "{\"a\":1,,\"b\":2}", "{}{}",
        "1 2", "{} x", "[] ,", "null null", "\"a\" \"b\"",
        "// comment\n1", "/* comment */ 1", "# comment", "\u{0B}1", "\u{0C}1", "\u{A0}1", "\u{2028}1", "\u{0}", "[\u{0}]",
        "[1]\u{0}", "1 \u{0}",
    ]

    /// Rejected here, accepted by Foundation: the grammar has no trailing comma and no byte order mark.
    static let foundationOnly = ["[1,]", "[1, ]", "{\"a\":1,}", "{\"a\":1, }", "\u{FEFF}1", "\u{FEFF}{}"]

    /// Accepted here, rejected by Foundation: half of a surrogate pair stands for U+FFFD, and a number too large for a
    /// `Double` is infinite. An application's event must not be lost for such a small flaw.
    static let hereOnly = [#""\ud800""#, #""\udc00""#, #""\ude42\ud83d""#, #""\ud83dx""#, #""\ud83d\n""#, "1e400", "[-1e400]"]

    /// Returns a document with `depth` nested containers.
    static func nested(_ open: String, _ close: String, depth: Int, inner: String = "") -> String {
        String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)
    }
}

/// Documents with a few changed bytes, deterministic for each seed.
struct Mutation {
    private var generator: SplitMix64
    /// The bytes that matter to the grammar, and a few that don't.
    private static let alphabet =
        Array("{}[]\",:\\/ \t\n\u{0}\u{1}0123456789.eE+-truefalsnlbu".utf8) + [0x80, 0xBF, 0xC3, 0xE2, 0xFF]

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    mutating func next(of documents: [String]) -> [UInt8] {
        var bytes = Array(documents[below(documents.count)].utf8)
        for _ in 0...below(3) { change(&bytes) }
        return bytes
    }

    private mutating func below(_ bound: Int) -> Int {
        Int.random(in: 0..<max(bound, 1), using: &generator)
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return bytes.append(Self.alphabet[below(Self.alphabet.count)]) }
        let place = below(bytes.count)
        let end = min(place + 1 + below(6), bytes.count)
        switch below(6) {
        case 0: bytes[place] = Self.alphabet[below(Self.alphabet.count)]
        case 1: bytes.insert(Self.alphabet[below(Self.alphabet.count)], at: place)
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(contentsOf: bytes[place..<end], at: below(bytes.count))
        case 4: bytes.removeSubrange(place..<end)
        default: bytes.swapAt(place, below(bytes.count))
        }
    }
}
