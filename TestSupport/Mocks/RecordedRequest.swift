import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that a ``MockSession`` was asked to make.
public struct RecordedRequest: Equatable, Sendable, CustomStringConvertible {
    /// The method in capitals.
    public let method: String
    /// The address; empty where the request had none.
    public let url: String
    /// The header fields.
    public let headers: [String: String]
    /// The body, wherever the request had it from; empty where there was none.
    public let body: Data

    init(_ request: URLRequest) {
        method = (request.httpMethod ?? "GET").uppercased()
        url = request.url?.absoluteString ?? ""
        headers = request.allHTTPHeaderFields ?? [:]
        body = request.httpBody ?? request.httpBodyStream.map(Self.readAll) ?? Data()
    }

    /// The body as text; bytes that aren't UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body's fields as an HTML form sends them, decoded; of several with one name the last counts.
    public var form: [String: String] { ServerRequest.decodeForm(text) }

    /// What stubs are found by: `POST||https://example.com/pusher/auth`.
    var stubKey: String { "\(method)||\(url)" }

    /// The request as a server receives it.
    var received: ServerRequest {
        let components = URLComponents(string: url)
        let query = components?.percentEncodedQuery.map { "?\($0)" } ?? ""
        return ServerRequest(
            method: method, target: (components?.percentEncodedPath ?? "") + query, headers: headers, body: body)
    }

    /// `POST https://example.com/pusher/auth`
    public var description: String { "\(method) \(url)" }

    private static func readAll(_ stream: InputStream) -> Data {
        stream.open()
        defer { stream.close() }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return data }
            data.append(contentsOf: buffer[..<count])
        }
    }
}

/// Nothing was stubbed for a request: the error it fails with.
public struct UnmatchedRequest: Error, Equatable, Sendable, CustomStringConvertible {
    /// The request.
    public let request: RecordedRequest
    /// What there were answers for.
    public let offered: [String]

    /// Names the request and what was on offer.
    public var description: String {
        let offer = offered.isEmpty ? "nothing is stubbed" : "stubbed are: \(offered.joined(separator: ", "))"
        return "no answer for \(request); \(offer)"
    }
}
