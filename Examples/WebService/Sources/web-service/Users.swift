import Crypto
import Foundation
import Hummingbird

/// A user of this service.
struct User: Sendable {
    let id: String
    let followsOrders: Bool

    /// Decides whether the user may join a channel: the one question that the SDK can't answer.
    func mayJoin(_ channel: String) -> Bool {
        switch channel {
        case "private-orders": followsOrders
        case "presence-shop": true
        default: false
        }
    }
}

/// Identifies users by a token. It stands in for the way your service identifies its users, such as by their login session.
struct Users: Sendable {
    /// The users by the digest of their token, so that the time of a look-up reveals nothing about a token.
    private let users: [SHA256Digest: User]

    init(_ users: [String: User]) {
        self.users = Dictionary(users.map { (Self.digest($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    func user(withToken token: some StringProtocol) -> User? {
        users[Self.digest(token)]
    }

    private static func digest(_ token: some StringProtocol) -> SHA256Digest {
        SHA256.hash(data: Data(token.utf8))
    }
}

/// Finds the user of a request by its `Authorization: Bearer …` header.
struct UserMiddleware: RouterMiddleware {
    let users: Users

    func handle(
        _ request: Request, context: VisitContext, next: (Request, VisitContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let scheme = "Bearer "
        if let field = request.headers[.authorization], field.hasPrefix(scheme) {
            context.user = users.user(withToken: field.dropFirst(scheme.count))
        }
        return try await next(request, context)
    }
}

/// The context of any request.
struct VisitContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    var user: User?

    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
    }
}

/// The context of a request whose user is known. Any other request gets a 401 response before it reaches its route.
struct UserContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let user: User

    init(context: VisitContext) throws {
        guard let user = context.user else { throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]) }
        coreContext = context.coreContext
        self.user = user
    }
}
