import Testing

@testable import PusherChannels

/// What is kept of streams that nobody has any more.
@Suite struct EventStreamsTests {
    @Test func nothingIsKeptOfStreamsThatAreGone() {
        let streams = EventStreams()
        for number in 0..<100 {
            let members = streams.members(of: "presence-\(number)", StreamBuffering(limit: 1))
            let others = (streams.events(StreamBuffering(limit: 1)) { _ in true }, streams.states(StreamBuffering(limit: 1)))
            #expect(streams.areThere)
            withExtendedLifetime((members, others)) {}
        }
        #expect(!streams.areThere)
    }

    @Test func theOthersStay() async {
        let streams = EventStreams()
        let first = streams.members(of: "presence-room", StreamBuffering(limit: 1))
        do { _ = streams.members(of: "presence-room", StreamBuffering(limit: 1)) }
        streams.send(.left(PusherPresenceChannelMember(userId: "ann")), of: "presence-room")
        var iterator = first.makeAsyncIterator()
        guard case .left(let member) = await iterator.next() else {
            Issue.record("not the change")
            return
        }
        #expect(member.userId == "ann")
    }
}
