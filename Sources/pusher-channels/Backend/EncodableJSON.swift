import PusherChannels

/// JSON that a user wrote, for APIs that take values to encode.
struct EncodableJSON: Encodable {
    let value: JSONValue

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try value.encode(to: encoder)
        case .integer(let value): try value.encode(to: encoder)
        case .double(let value): try value.encode(to: encoder)
        case .string(let value): try value.encode(to: encoder)
        case .array(let elements): try elements.map(EncodableJSON.init).encode(to: encoder)
        case .object(let members):
            var container = encoder.container(keyedBy: Key.self)
            for (name, member) in members {
                try container.encode(EncodableJSON(value: member), forKey: Key(stringValue: name.text))
            }
        }
    }
}
