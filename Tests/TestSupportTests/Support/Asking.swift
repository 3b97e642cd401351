import Foundation
import TestSupport
import Testing

// Where URLSession has a module of its own, no file of the tests needs to import that as well.
#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif

extension URLRequest {
    /// Makes a request from a line such as `POST https://example.com/`, or from an address alone.
    init(line: String, body: String? = nil, fields: [String: String] = [:]) throws {
        let words = line.split(separator: " ").map(String.init)
        self.init(url: try #require(words.last.flatMap { URL(string: $0) }))
        httpMethod = words.count > 1 ? words[0] : "GET"
        httpBody = body.map { Data($0.utf8) }
        allHTTPHeaderFields = fields
    }
}

extension HTTPSession {
    /// Sends a request. The answer is `nil` until it comes; then it is `200 text`, the code of a `URLError`, or another error.
    @discardableResult
    func ask(_ line: String, body: String? = nil, fields: [String: String] = [:]) throws -> Locked<String?> {
        let answer = Locked<String?>(nil)
        dataTask(with: try URLRequest(line: line, body: body, fields: fields), answer: answer).resume()
        return answer
    }

    /// Prepares a request whose answer is written down in the form of ``ask(_:body:fields:)``.
    func dataTask(with request: URLRequest, answer: Locked<String?>) -> DataTask {
        dataTask(with: request) { data, response, error in
            let text = answerText(data, response, error)
            answer.withLock { $0 = text }
        }
    }
}

/// Returns the answer to a request as `200 text`, as the code of a `URLError`, or as another error, to which no data belongs.
func answerText(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) -> String {
    if let error {
        let text = (error as? URLError).map { "\($0.code.rawValue)" } ?? "\(error)"
        return data.map { "\(text) beside \($0.count) bytes" } ?? text
    }
    let status = (response as? HTTPURLResponse).map { "\($0.statusCode) " } ?? ""
    return status + String(decoding: data ?? Data(), as: UTF8.self)
}

extension LocalServer {
    /// Sends a request, with a line such as `POST /path`, over sockets. Returns the answer as `200 text`.
    @discardableResult
    func ask(_ line: String, body: String? = nil, fields: [String: String] = [:]) async throws -> String {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let address = "\(url)\(words.last ?? "")"
        let request = try URLRequest(line: words.count > 1 ? "\(words[0]) \(address)" : address, body: body, fields: fields)
        let (data, response) = try await URLSession.shared.data(for: request)
        return "\((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))"
    }
}
