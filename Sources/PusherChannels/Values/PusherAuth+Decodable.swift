/// The members of an endpoint's response; those of two words also in the spelling of a decoder that converts from snake case.
private enum ResponseMember: String, CodingKey {
    case auth
    case channelData = "channel_data"
    case sharedSecret = "shared_secret"
    case userData = "user_data"
    case convertedChannelData = "channelData"
    case convertedSharedSecret = "sharedSecret"
    case convertedUserData = "userData"
}

extension PusherAuth: Decodable {
    /// Reads an endpoint's response: a JSON object with the text `auth`, and `channel_data` and `shared_secret` where there are such.
    ///
    /// Other members are left out. `channel_data` is a text of JSON, not an object: what was signed is its bytes.
    ///
    /// - Throws: A `DecodingError`, which quotes nothing of the response.
    public init(from decoder: any Decoder) throws {
        let response = try decoder.container(keyedBy: ResponseMember.self)
        self.init(
            auth: try response.decode(String.self, forKey: .auth),
            channelData: try response.text(.channelData, or: .convertedChannelData),
            sharedSecret: try response.text(.sharedSecret, or: .convertedSharedSecret))
    }
}

extension PusherUserAuth: Decodable {
    /// Reads an endpoint's response: a JSON object with the texts `auth` and `user_data`.
    ///
    /// - Throws: A `DecodingError`, which quotes nothing of the response.
    public init(from decoder: any Decoder) throws {
        let response = try decoder.container(keyedBy: ResponseMember.self)
        let userData = try response.text(.userData, or: .convertedUserData)
        self.init(
            auth: try response.decode(String.self, forKey: .auth),
            userData: try userData ?? response.decode(String.self, forKey: .userData))
    }
}

extension KeyedDecodingContainer<ResponseMember> {
    fileprivate func text(_ member: ResponseMember, or converted: ResponseMember) throws -> String? {
        try decodeIfPresent(String.self, forKey: member) ?? decodeIfPresent(String.self, forKey: converted)
    }
}
