/// The reason why a channel was not authorized: what the endpoint or the application's code gave instead.
struct AuthorizationFailure: Error, Equatable, Sendable {
    var message: String
    /// The endpoint's address and HTTP status, where it answered at all.
    var url: String?
    var status: Int?
    var body: String?
    /// Indicates whether asking again may help.
    var isRetriable = false
}
