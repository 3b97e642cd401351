import Testing

@testable import PusherChannels

@Suite struct PresenceTests {
    private static let lobby: Name = "presence-lobby"
    private let ann = PusherAuth(auth: "k:s", channelData: #"{"user_id":"ann"}"#)
    private let bob = PresenceMember(userID: "bob", info: JSONText(["name": "Bob"]))

    private func subscribed(
        _ members: [String], _ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }
    ) -> Transcript {
        var transcript = Transcript.subscribing(to: Self.lobby, auth: ann, change)
        transcript.receive(success(members))
        return transcript
    }

    private func success(_ members: [String]) -> String {
        let ids = members.map { "\"\($0)\"" }.joined(separator: ",")
        let hash = members.map { "\"\($0)\":{\"name\":\"\($0)\"}" }.joined(separator: ",")
        let data = #"{"presence":{"ids":[\#(ids)],"hash":{\#(hash)},"count":\#(members.count)}}"#
        return #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-lobby","data":\#(data.quotedJSON)}"#
    }

    private func members(_ transcript: Transcript) -> [String] {
        transcript.machine.subscriptions[Self.lobby]?.presentMembers.members.map(\.userID.text) ?? []
    }

    private func added(_ userID: String, info: String = "{}") -> String {
        #"{"event":"pusher_internal:member_added","channel":"presence-lobby","data":{"user_id":\#(userID),"user_info":\#(info)}}"#
    }

    private func removed(_ userID: String) -> String {
        #"{"event":"pusher_internal:member_removed","channel":"presence-lobby","data":"{\"user_id\":\"\#(userID)\"}"}"#
    }

    private func info(of user: Name, _ transcript: Transcript) -> JSONValue? {
        transcript.machine.subscriptions[Self.lobby]?.presentMembers[user]?.info?.value
    }

    // Proves P7.1, P7.2, P7.4.
    @Test func `A presence channel has the first list's members, of whom no joins are reported, and the client's own id`() {
        var transcript = Transcript.subscribing(to: Self.lobby, auth: ann)
        let outputs = transcript.receive(success(["bob", "ann"]))
        #expect(outputs.events == ["pusher:subscription_succeeded"])
        #expect(outputs.deliveries.last == .subscribed(channel: Self.lobby))
        #expect(members(transcript) == ["bob", "ann"])
        #expect(transcript.machine.subscriptions[Self.lobby]?.me == "ann")
        #expect(info(of: "bob", transcript) == ["name": "bob"])
    }

    // Proves P7.1.
    @Test func `Channel data is sent to the server exactly as the authorization gave it`() {
        let data = #"{ "user_info" : {"n":1.50}, "user_id" : 10 }"#
        var transcript = Transcript.connected()
        let sent = transcript.subscribe(Self.lobby, auth: PusherAuth(auth: "k:s", channelData: data)).sent
        #expect(sent == [.subscribe(channel: "presence-lobby", auth: "k:s", channelData: data)])
        transcript.receive(success(["10"]))
        #expect(transcript.machine.subscriptions[Self.lobby]?.me == "10")
    }

    // Proves P7.6.
    @Test func `Members that join or leave a presence channel are reported`() {
        var transcript = subscribed(["ann"])
        let join = transcript.receive(added("\"bob\"", info: #"{"name":"Bob"}"#))
        #expect(join.deliveries == [.memberAdded(channel: Self.lobby, bob)])
        let data = #"{"user_id":"bob","user_info":{"name":"Bob"}}"#
        #expect(join.deliveries.map(\.envelope) == [Envelope(event: "pusher:member_added", channel: Self.lobby, data: data)])
        #expect(members(transcript) == ["ann", "bob"])
        let leave = transcript.receive(removed("bob"))
        #expect(leave.events == ["pusher:member_removed"])
        #expect(leave.deliveries.last == .memberRemoved(channel: Self.lobby, bob))
        #expect(members(transcript) == ["ann"])
    }

    /// Sockudo repeats frames about a user who is on two nodes, and a node that died leaves its members behind.
    // Proves P7.6, P7.7.
    @Test func `Joins and leaves that the server repeats or left out are reported as the list changes, and update a member`() {
        var transcript = subscribed(["ann", "ghost"])
        let (ghost, bob) = ("\"ghost\"", "\"bob\"")
        let frames = [
            added(ghost), added(bob), added(bob), removed("bob"), removed("bob"), removed("ghost"), removed("ghost"), added(bob),
        ]
        let (joined, left) = ("pusher:member_added", "pusher:member_removed")
        #expect(frames.flatMap { transcript.receive($0).events } == [joined, left, left, joined])
        #expect(members(transcript) == ["ann", "bob"])
        #expect(transcript.receive(added("\"ann\"", info: #"{"name":"Anna"}"#)).isEmpty)
        #expect(info(of: "ann", transcript) == ["name": "Anna"])
    }

    /// A later list of Sockudo's has the information of the join again, so that a client which took the update would go back.
    // Proves P2.8.
    @Test func `A member's update on Sockudo is only logged, and the information stays that of the join`() {
        var transcript = subscribed(["ann", "bob"]) { $0.protocol = .sockudo }
        let data = #"{"user_id":"bob","user_info":{"name":"Bo"}}"#.quotedJSON
        let outputs = transcript.receive(
            #"{"event":"sockudo_internal:presence_update","channel":"presence-lobby","data":\#(data)}"#)
        #expect(outputs.count == 1 && outputs.withoutLogs.isEmpty)
        #expect(info(of: "bob", transcript) == ["name": "bob"])
    }

    @Test func `Presence members are limited in bytes, and one too many is reported instead of added`() {
        var transcript = subscribed(["ann"])
        let info = "\"" + String(repeating: "x", count: 15 << 20) + "\""
        for user in ["1", "2", "3", "4"] { #expect(transcript.receive(added("\"\(user)\"", info: info)).errors.isEmpty) }
        let outputs = transcript.receive(added("\"5\"", info: info))
        #expect(outputs.errors.map(\.message) == ["presence-lobby has members of 67108864 bytes: 5 is not added"])
        #expect(members(transcript) == ["ann", "1", "2", "3", "4"])
        // A member who leaves makes room, and a member whose info is updated counts only once.
        transcript.receive(added("\"4\"", info: info))
        transcript.receive(removed("1"))
        #expect(transcript.receive(added("\"5\"", info: info)).errors.isEmpty)
        #expect(members(transcript) == ["ann", "2", "3", "4", "5"])
    }

    /// Some servers tell of each connection that ends, such as the one that this client lost before.
    // Proves P7.9.
    @Test func `A leave of the client's own user is ignored while the channel is subscribed`() {
        var transcript = subscribed(["ann", "bob"])
        #expect(transcript.receive(removed("ann")).deliveries.isEmpty)
        #expect(members(transcript) == ["ann", "bob"])
        #expect(transcript.receive(removed("bob")).deliveries.count == 1)
    }

    // Proves P7.4, P7.5.
    @Test func `A new subscription replaces the members and reports the leaves and joins since`() {
        var transcript = subscribed(["ann", "bob", "cy"])
        transcript.close(4200)
        #expect(members(transcript).isEmpty, "nobody is known to be there while there is no subscription")
        #expect(transcript.machine.subscriptions[Self.lobby]?.me == nil)
        for attempt in transcript.establish().authorizations { transcript.authorize(attempt, ann) }
        let outputs = transcript.receive(success(["ann", "cy", "dee"]))
        #expect(members(transcript) == ["ann", "cy", "dee"])
        #expect(outputs.events == ["pusher:subscription_succeeded", "pusher:member_removed", "pusher:member_added"])
    }

    @Test(arguments: [0, 1]) func `A member's information may be nested as deeply as any document, and no deeper`(excess: Int) {
        let info = JSONDocuments.nested("[", "]", depth: JSONScanner.maximumDepth - 3 + excess, inner: "1")
        let data = #"{"presence":{"hash":{"a":\#(info)}}}"#
        #expect((JSONScanner.problem(in: data.utf8) == nil) == (excess == 0))
        var transcript = Transcript.subscribing(to: Self.lobby, auth: ann)
        transcript.receive(
            #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-lobby","data":\#(data.quotedJSON)}"#)
        #expect(members(transcript) == (excess == 0 ? ["a"] : []))
    }
}
