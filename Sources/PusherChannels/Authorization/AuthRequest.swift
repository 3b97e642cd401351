import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The request an authorization endpoint expects: a POST.
enum AuthRequest {
    /// Longer than anybody waits: the machine's deadline, which is the application's choice, ends the wait and cancels the request.
    /// What `URLRequest` has by default, 60 s, would end longer ones.
    static let timeout: TimeInterval = 24 * 60 * 60

    static func make(
        endpoint: String, fields: [(name: String, value: String)], encoding: AuthEndpoint.Encoding = .form
    ) -> URLRequest? {
        guard let url = URL(string: endpoint), let scheme = url.scheme, ["http", "https"].contains(scheme), url.host != nil
        else { return nil }
        var request = URLRequest(url: url, timeoutInterval: timeout)
        request.httpMethod = "POST"
        switch encoding {
        case .form:
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(form(fields).utf8)
        case .json:
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            let members = fields.map { ($0.name, JSONValue.string($0.value)) }
            request.httpBody = Data(
                JSONValue.object(Dictionary(members.map { (Name($0), $1) }, uniquingKeysWith: { $1 })).text.utf8)
        }
        return request
    }

    static func form(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    private static func encode(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
