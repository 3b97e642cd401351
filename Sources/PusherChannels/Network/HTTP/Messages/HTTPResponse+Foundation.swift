import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPResponse {
    /// Returns the response in Foundation's form; `endpoint` names its sender in errors.
    func result(of url: URL, endpoint: String) -> Result<(Data, HTTPURLResponse), HTTPFailure> {
        var names: [String: String] = [:]
        var values: [String: String] = [:]
        for (name, value) in fields {
            let spelling = names[name.lowercased(), default: name]
            names[name.lowercased()] = spelling
            values[spelling] = values[spelling].map { "\($0), \(value)" } ?? value
        }
        guard let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: values) else {
            let message = "\(endpoint) answered with HTTP \(status), of which Foundation makes no response"
            return .failure(HTTPFailure(TransportError(.protocolViolation, message)))
        }
        return .success((Data(body), response))
    }
}
