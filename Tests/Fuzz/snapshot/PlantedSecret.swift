import Foundation

/// A secret at a place where it must be hidden, whatever text surrounds it.
///
/// Nothing that a recorder shows depends on the secret: another secret of the same length gives the same output.
struct PlantedSecret {
    /// The number of places that a secret can have.
    static let places = 14

    private static let secrets = ["hunter2hunter2", "swordfishsword"]
    private static let names: [Name] = [
        "password", "access_token", "Shared-PlantedSecret", "auth", "set-cookie", "API_KEY", "newPassword", "auth_signature",
        "jwt",
    ]

    private let place: Int
    private let name: Name
    private let text: String

    init(_ place: Int, name: Int, around text: String) {
        self.place = place
        self.name = Self.names[name % Self.names.count]
        self.text = text
    }

    func check() {
        let shown = Self.secrets.map { secret in
            if place == 0 { return "\(SnapshotFile.read(file(with: secret)))" }
            let recorder = Recording.recorder()
            plant(secret, in: recorder)
            return Recording.shown(by: recorder)
        }
        require(shown[0] == shown[1], "a secret behind \(name) is shown: \(shown[0])")
    }

    // MARK: Places

    private func plant(_ secret: String, in recorder: TrafficRecorder) {
        switch place {
        case 1: recorder.record(request("?\(text)&\(name)=\(secret)"))
        case 2: recorder.record(request("?\(name)=\(secret)&\(text)"))
        case 3: recorder.record(request("?q=1", headers: ["Authorization": "\(text)\(secret)", "X-Note": text]))
        case 4: recorder.record(request("", headers: ["X-Note": "\(plain) Bearer \(secret)", "x-api-key": secret]))
        case 5: recorder.record(request("", body: json(secret).text))
        case 6: recorder.record(request("", body: JSONValue.object(["inner": .string(json(secret).text)]).text))
        case 7: recorder.record(request("", body: "\(text)&\(name)=\(secret)"))
        case 8: recorder.record(request("", body: "\(text) \(name)=\(secret)"))
        case 9: recorder.record(request("", body: "\(text)\nAuthorization: Basic \(secret)\nHost: a"))
        case 10: recorder.record(request("", body: "\(text) https://ann:p@\(secret)@b.example/"))
        case 11: recorder.record(request("", body: "\(name)=\"a \(secret)\" \(text)"))
        case 12: recorder.record(frame(json(secret)), isSent: true, on: Recording.connection)
        default: recorder.record(frame(.string(json(secret).text)), isSent: false, on: Recording.connection)
        }
    }

    private func request(_ query: String, headers: [String: String] = [:], body: String = "") -> RecordedRequest {
        RecordedRequest(method: "POST", url: "https://a.example/\(query)", headers: headers, body: Data(body.utf8))
    }

    private func frame(_ data: JSONValue) -> String {
        JSONValue.object(["event": "pusher:signin", "data": data]).text
    }

    /// The text without line ends and other control characters, as in a header.
    private var plain: String { String(decoding: text.utf8.filter { $0 >= 0x20 }, as: UTF8.self) }

    /// Returns JSON with the text, and the secret around it: as a member of its objects, in its arrays, and beside it.
    private func json(_ secret: String) -> JSONValue {
        [
            name: .string("a\" \(secret)"), "text": plant(secret, in: JSONValue(ifJSON: text) ?? .string(text)),
            "deep": [[name: [[.string(secret)]]]],
        ]
    }

    private func plant(_ secret: String, in value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool, .number, .string: value
        case .array(let elements): .array(elements.map { plant(secret, in: $0) } + [.object([name: .string(secret)])])
        case .object(let members): .object(members.mapValues { plant(secret, in: $0) }.merging([name: .string(secret)]) { $1 })
        }
    }

    /// Returns a file as an older version, or a person, may have written it.
    private func file(with secret: String) -> String {
        JSONValue.array([
            ["url": .string("https://ann:\(secret)@a.example/"), "body": json(secret), "parameters": json(secret)],
            ["event": "e", "frame": "sent", "data": json(secret)],
        ]).text
    }
}
