import Foundation
import TestSupport
import Testing

struct RequestMatcherTests {
    private let request = RecordedRequest(
        method: "POST", url: "https://api.example.com:8443/users/7%20a/posts?page=2&q=a%20b",
        headers: ["Content-Type": "application/json", "Authorization": "Bearer abc"],
        body: Data(#"{"name":"Ann","tags":["a","b"],"nested":{"n":1.0}}"#.utf8))

    @Test(
        arguments: [
            "POST /users/{id}/posts", "/users/7%20a/posts", "post /users/{id}/{what}",
            "POST https://api.example.com:8443/users/7%20a/posts?page=2&q=a%20b",
            .any, .method("post"), .host("api.example.com"), .path("/users/{id}/posts"), .path(startsWith: "/users/"),
            .path(startsWith: "/users/7 a"), .path(startsWith: "/users/7%20a"),
            .query(["page": "2"]), .query(["q": "a b"]), .header("content-type"), .header("CONTENT-TYPE", "application/json"),
            .json(#"{"tags":["a","b"]}"#), .json(#"{"nested":{"n":1},"name":"Ann"}"#), .json("{}"),
            RequestMatcher("odd") { $0.body.isEmpty ? "body is empty" : nil },
            "POST /users/{id}/posts" && .header("content-type"), "/nowhere" || .host("api.example.com"), !"/nowhere",
        ] as [RequestMatcher])
    func `A matcher matches a request that fits its pattern, fields, or combination`(matcher: RequestMatcher) {
        #expect(matcher.matches(request), "\(matcher.reasonsAgainst(request))")
    }

    @Test(
        arguments: [
            ("GET /users/{id}/posts", ["method is POST, not GET"]),
            ("/users/{id}", ["path is /users/7%20a/posts, not /users/{id}"]),
            ("/users/7%20a/posts/", ["path is /users/7%20a/posts, not /users/7%20a/posts/"]),
            ("/posts", ["path is /users/7%20a/posts, not /posts"]),
            (
                "https://api.example.com:8443/users/7%20a/posts",
                [
                    "address is https://api.example.com:8443/users/7%20a/posts?page=2&q=a%20b, "
                        + "not https://api.example.com:8443/users/7%20a/posts"
                ]
            ),
            (.host("example.com"), ["host is api.example.com, not example.com"]),
            (.path(startsWith: "/posts"), ["path is /users/7%20a/posts, which doesn't begin with /posts"]),
            (.query(["page": "3", "sort": "up"]), ["query's page is 2, not 3", "query has no sort"]),
            (.form(["name": "Ann"]), ["form has no name"]),
            (.header("X-Field"), ["header X-Field is missing"]),
            (.header("Content-Type", "text/plain"), ["header Content-Type is application/json, not text/plain"]),
            (.body("{}"), ["body is of 50 bytes and another"]),
            (.json(#"{"name":"Bob","age":3}"#), ["body.age is missing", #"body.name is "Ann", not "Bob""#]),
            (.json(#"{"tags":["a"]}"#), ["body.tags has 2 elements, not 1"]),
            (.json(#"{"tags":["a","c"]}"#), [#"body.tags[1] is "b", not "c""#]),
            (.json(#"{"nested":{"n":2}}"#), ["body.nested.n is 1.0, not 2"]),
            (.json("{"), ["the matcher's own JSON can't be read: {"]),
            (
                "GET /a" || .host("b"),
                ["method is POST, not GET, and path is /users/7%20a/posts, not /a, and host is api.example.com, not b"]
            ),
            (!.host("api.example.com"), ["it is host api.example.com"]),
            ("GET /users/{id}/posts" && .host("b"), ["method is POST, not GET", "host is api.example.com, not b"]),
        ] as [(RequestMatcher, [String])])
    func `A matcher that doesn't match a request gives the reasons`(matcher: RequestMatcher, reasons: [String]) {
        #expect(!matcher.matches(request))
        #expect(matcher.reasonsAgainst(request) == reasons)
    }

    @Test func `A path matcher decodes its prefix like the path's segments`() {
        func matches(_ prefix: String, _ path: String) -> Bool {
            RequestMatcher.path(startsWith: prefix).matches(RecordedRequest(url: "http://a\(path)"))
        }
        for prefix in ["", "/", "/a", "/a b", "/a%20b", "/a%20b/", "/a b/c%2Fd", "/a b/c%2fd/e"] {
            #expect(matches(prefix, "/a%20b/c%2Fd/e"), "\(prefix)")
        }
        for prefix in ["/a b/c/", "/a b/c/d", "/b", "/a b/c%2Fd/e/"] { #expect(!matches(prefix, "/a%20b/c%2Fd/e"), "\(prefix)") }
        #expect(matches("/a b/", "/a%20b/%zz"))
    }

    @Test func `A field with several values matches by any of them`() {
        let request = RecordedRequest(method: "POST", url: "http://a/?tag=a&tag=b", body: Data("tag=c&tag=d".utf8))
        for tag in ["a", "b"] { #expect(RequestMatcher.query(["tag": tag]).matches(request)) }
        for tag in ["c", "d"] { #expect(RequestMatcher.form(["tag": tag]).matches(request)) }
        #expect(RequestMatcher.query(["tag": "c"]).reasonsAgainst(request) == ["query's tag is a, b, not c"])
    }

    @Test func `A mismatch's reasons hide the values of secret fields`() {
        let reasons = RequestMatcher.header("Authorization", "Bearer xyz").reasonsAgainst(request)
        #expect(reasons == ["header Authorization is <redacted>, not <redacted>"])
        let form = RecordedRequest(method: "POST", url: "/", body: Data("auth=abc".utf8))
        #expect(RequestMatcher.form(["auth": "xyz"]).reasonsAgainst(form) == ["form's auth is <redacted>, not <redacted>"])
        let body = #"{"tokens":["s3cr3t"],"password":{"value":"s3cr3t"}}"#
        let nested = RecordedRequest(method: "POST", url: "https://a/x?auth_signature=s3cr3t", body: Data(body.utf8))
        let matcher = RequestMatcher.url("https://a/x") && .json(#"{"tokens":["x"],"password":{"value":"x"}}"#)
        let texts = matcher.reasonsAgainst(nested)
        #expect(texts.count == 3 && !texts.joined().contains("s3cr3t"), "\(texts)")
    }

    @Test(
        arguments: [
            ("GET https://a/x?access_token=s3cr3t", "GET https://a/x?access_token=<redacted>"),
            (.url("https://ann:s3cr3t@a/x"), "address https://ann:<redacted>@a/x"),
            (.header("X-Api-Key", "s3cr3t"), "header X-Api-Key: <redacted>"),
            (.query(["token": "s3cr3t", "a": "b"]), "query a=b&token=<redacted>"),
            (.form(["auth": "key:s3cr3t"]), "form auth=key:<redacted>"), (.body("password=s3cr3t"), "body password=<redacted>"),
            (.json(#"{"tokens":["s3cr3t"],"a":1}"#), #"JSON {"a":1,"tokens":"<redacted>"}"#),
        ] as [(RequestMatcher, String)])
    func `A matcher's description hides its own secrets`(matcher: RequestMatcher, text: String) {
        #expect("\(matcher)" == text)
    }

    @Test func `A recorded request's path, query, and host are taken from its address`() {
        for (url, path, query) in [
            ("http://a", "/", ""), ("http://a/", "/", ""), ("http://a?x=/b", "/", "x=/b"), ("http://a#/b", "/", ""),
            ("/p?x#y?z", "/p", "x"), ("/p?u=https://b.example/c", "/p", "u=https://b.example/c"),
        ] {
            let request = RecordedRequest(url: url)
            #expect([request.path, request.query] == [path, query], "\(url)")
        }
        #expect(RecordedRequest(url: "http://a:1/p").host == "a")
    }
}
