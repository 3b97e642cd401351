import PusherChannels
import Testing

@Suite struct PusherAuthTests {
    @Test(arguments: [
        (PusherAuth(auth: "key:sig"), "PusherAuth(auth)"),
        (PusherAuth(auth: "key:sig", channelData: "{}"), "PusherAuth(auth, channelData)"),
        (PusherAuth(auth: "key:sig", sharedSecret: "c2VjcmV0"), "PusherAuth(auth, sharedSecret)"),
        (PusherAuth(auth: "key:sig", channelData: "{}", sharedSecret: "c2VjcmV0"), "PusherAuth(auth, channelData, sharedSecret)"),
    ])
    func descriptionShowsNoSecret(auth: PusherAuth, description: String) {
        #expect("\(auth)" == description)
        #expect(String(reflecting: auth) == description)
    }
}
