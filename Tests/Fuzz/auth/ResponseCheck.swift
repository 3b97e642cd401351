import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A check of a response and of its outcome for the requester.
struct ResponseCheck {
    private static let endpoint = "http://127.0.0.1/auth"
    private static let url = URL(string: endpoint)

    private let response: HTTPResponse

    init(_ response: HTTPResponse) {
        self.response = response
    }

    func check(_ asked: AuthorizationSubject) {
        let result = result(of: asked)
        checkOutcome(result, of: asked)
        checkSecrecy(result, of: asked)
    }

    // MARK: Outcome

    /// A failure or the parts of an authorization, and the text that a log could show of it.
    fileprivate struct Outcome {
        let parts: Result<[String?], AuthorizationFailure>
        let shown: String
    }

    private func result(of asked: AuthorizationSubject) -> Outcome {
        guard let url = Self.url, case .success((let data, let httpResponse)) = response.result(of: url, endpoint: "127.0.0.1")
        else {
            fatalError("Foundation makes no response of \(response)")
        }
        guard let socketID = SocketID("1.1") else { fatalError("1.1 isn't a socket id") }
        let (session, outcomes) = (FixedSession(data: data, response: httpResponse), Locked<[Outcome]>([]))
        switch asked {
        case .user:
            let authorizer = UserAuthorizer(method: .endpoint(Self.endpoint), key: "key", environment: Self.environment)
            _ = authorizer.authorize(socketID: socketID, session: session) { result in
                outcomes.withLock { $0.append(Outcome(result) { [$0.auth, $0.userData, nil] }) }
            }
        case .channel(let channel):
            let authorizer = ChannelAuthorizer(
                method: .endpoint(authEndpoint: Self.endpoint), key: "key", environment: Self.environment)
            let none: () -> JSONValue? = { nil }
            _ = authorizer.authorize(channel: channel, socketID: socketID, session: session, channelUser: none) { result in
                outcomes.withLock { $0.append(Outcome(result) { [$0.auth, $0.channelData, $0.sharedSecret] }) }
            }
        }
        let all = outcomes.withLock { $0 }
        require(all.count == 1, "there are \(all.count) outcomes")
        return all[0]
    }

    private static let environment = PusherEnvironment(
        of: LiveScheduler(), FixedSession(data: Data(), response: nil), { fatalError("no socket is made") }, { Date() }, { 1 },
        nil,
        { JSONEncoder() }, { body in Task { await body() } })

    private func checkOutcome(_ outcome: Outcome, of asked: AuthorizationSubject) {
        let body = String(decoding: response.body, as: UTF8.self)
        let isGood = (200..<300).contains(response.status)
        let expected = isGood ? asked.authorization(in: body) : nil
        switch outcome.parts {
        case .success(let parts): require(parts == expected, "\(parts) is read from \(body.debugDescription)")
        case .failure(let failure):
            require(expected == nil, "\(failure) for \(body.debugDescription)")
            require(!failure.message.isEmpty, "a failure says why")
            // An encrypted channel's response without a key is rejected only after it was read.
            let isUnread = failure.status != nil
            require(isUnread || isGood, "the status is missing in \(failure)")
            require(!isUnread || failure.status == response.status, "the status of \(failure)")
            require(failure.body == (isGood ? nil : body), "a refusal's body is passed on, and no other: \(failure)")
            let isBusy = (500..<600).contains(response.status) || [408, 425, 429].contains(response.status)
            // A success that can't be used most likely comes from a gateway, or from an endpoint that is being changed.
            require(failure.isRetryable == (isBusy || isGood), "\(failure) may be better later: \(isBusy || isGood)")
        }
    }

    // MARK: Secrecy

    /// Checks that the shown text is the same for every secret, whether the secret is in the body's texts, before the body or
    /// after it.
    private func checkSecrecy(_ outcome: Outcome, of asked: AuthorizationSubject) {
        let body = String(decoding: response.body, as: UTF8.self)
        let places: [(String) -> String] = [
            { secret in JSONValue(ifJSON: body)?.mapTexts { "\(secret):\($0)" }.text ?? secret },
            { "\($0)\(body)" },
            { "\(body)\($0)" },
            { #"{"auth":{"shared_secret":"\#($0)"},"x":\#(body)}"# },
        ]
        for place in places {
            let shown = ["hunter2", "swordfs"].map { secret in
                let changed = HTTPResponse(
                    status: response.status, fields: response.fields, body: Array(place(secret).utf8), reuse: nil)
                return ResponseCheck(changed).result(of: asked).shown
            }
            require(shown[0] == shown[1], "it shows a secret: \(shown[0])")
        }
    }
}

extension ResponseCheck.Outcome {
    /// A failure's body is the endpoint's message to its own user, who gets it unchanged; it is shown nowhere.
    fileprivate init<Auth>(_ result: Result<Auth, AuthorizationFailure>, _ parts: (Auth) -> [String?]) {
        self.parts = result.map(parts)
        switch result {
        case .success(let auth):
            var dumped = ""
            dump(auth, to: &dumped)
            shown = "\(auth) \(String(reflecting: auth)) \(dumped)"
        case .failure(let failure):
            let error = PusherError(.authorization, code: failure.status, message: failure.message)
            shown = "\(error) \(failure.url ?? "") \((200..<300).contains(failure.status ?? 0) ? failure.body ?? "" : "")"
        }
    }
}

extension JSONValue {
    fileprivate func mapTexts(_ change: (String) -> String) -> JSONValue {
        switch self {
        case .string(let text): .string(change(text))
        case .array(let elements): .array(elements.map { $0.mapTexts(change) })
        case .object(let members): .object(members.mapValues { $0.mapTexts(change) })
        case .null, .bool, .number: self
        }
    }
}
