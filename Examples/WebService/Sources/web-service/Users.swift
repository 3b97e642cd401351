import Crypto
import Foundation
import Hummingbird

/// Somebody whom this service knows.
struct User: Sendable {
    let id: String
    let followsOrders: Bool

    /// Decides who may hear a channel: the one question that the SDK can't answer.
    func mayJoin(_ channel: String) -> Bool {
        switch channel {
        case "private-orders": followsOrders
        case "presence-shop": true
        default: false
        }
    }
}

/// Knows users by a token. It stands in for how your service knows its users, such as by the session of their login.
struct Users: Sendable {
    /// Digests of the tokens: how long it takes to look one up tells nothing about a token.
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

/// Finds the user of a request by its header `Authorization: Bearer …`.
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

/// The context of a request whose user is known: any other is answered with 401, before its route sees it.
struct UserContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let user: User

    init(context: VisitContext) throws {
        guard let user = context.user else { throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]) }
        coreContext = context.coreContext
        self.user = user
    }
}
