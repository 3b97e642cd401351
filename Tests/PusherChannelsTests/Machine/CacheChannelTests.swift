import Testing

@testable import PusherChannels

@Suite struct CacheChannelTests {
    private let succeeded = #"{"event":"pusher_internal:subscription_succeeded","channel":"cache-room","data":"{}"}"#
    private let cached = #"{"event":"price","channel":"cache-room","data":"{\"amount\":1}"}"#

    // Proves P11.1.
    @Test func cacheChannelIsAuthorizedAsItsKindIs() {
        var transcript = Transcript.connected()
        #expect(
            transcript.play(.subscribe(channel: "cache-room", auth: nil)) == [
                .command(.send(.subscribe(channel: "cache-room", auth: nil, channelData: nil)))
            ])
        for channel: Name in ["private-cache-room", "presence-cache-room"] {
            let outputs = transcript.play(.subscribe(channel: channel, auth: nil))
            #expect(outputs.sent.isEmpty)
            #expect(outputs.authorizations.map(\.channel) == [channel])
        }
    }

    // Proves P11.2, P11.3.
    @Test func cachedEventFollowsEverySuccess() {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "cache-room", auth: nil))
        for _ in 1...2 {
            let outputs = transcript.receive(succeeded) + transcript.receive(cached)
            #expect(outputs.events == ["pusher:subscription_succeeded", "price"])
            transcript.close(4200)
            transcript.establish()
        }
    }
}
