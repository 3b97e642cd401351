/// The members of an endpoint's response. Names of two words also have the spelling of a decoder that converts from snake case.
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
    /// Decodes an endpoint's response: a JSON object with the string `auth`, and optionally `channel_data` and `shared_secret`.
    ///
    /// Other members are ignored. `channel_data` is a string of JSON, not an object, because its bytes were signed.
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
    /// Decodes an endpoint's response: a JSON object with the strings `auth` and `user_data`.
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
