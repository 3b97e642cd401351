/// A channel whose members know of each other.
///
/// The members are the server's list at the time of the subscription, kept up to date by its later events. While the channel
/// isn't subscribed, there are none.
///
/// `@unchecked` is inherited; the class adds no stored properties.
public final class PusherPresenceChannel: PusherChannel, @unchecked Sendable {
    /// The members, once each, in the order in which they became known.
    public var members: [PusherPresenceChannelMember] {
        (read(\.presentMembers.members) ?? []).map(PusherPresenceChannelMember.init)
    }

    /// The number of members.
    public var count: Int { read(\.presentMembers.count) ?? 0 }

    /// The member with this user id.
    public subscript(userID: String) -> PusherPresenceChannelMember? {
        (read { $0.presentMembers[Name(userID)] } ?? nil).map(PusherPresenceChannelMember.init)
    }

    /// This client's user id in the channel; nil while the channel isn't subscribed.
    public var myID: String? {
        readConnection { connection, channel in channel.isSubscribed ? (channel.me ?? connection.user.id)?.text : nil } ?? nil
    }

    /// Returns this client's own member.
    public func me() -> PusherPresenceChannelMember? {
        myID.flatMap { self[$0] }
    }
}
