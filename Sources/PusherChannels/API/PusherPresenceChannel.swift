/// A channel whose members know of each other.
///
/// The members are the server's list as of the subscription, kept up to date by what it says since. While the channel is not
/// subscribed there are none.
///
/// `@unchecked` is inherited; the class stores nothing of its own.
public final class PusherPresenceChannel: PusherChannel, @unchecked Sendable {
    /// Everybody who is there, once each, in the order in which they became known.
    public var members: [PusherPresenceChannelMember] {
        (read(\.presentMembers.members) ?? []).map(PusherPresenceChannelMember.init)
    }

    /// The number of members.
    public var count: Int { read(\.presentMembers.count) ?? 0 }

    /// The member with this user id.
    public subscript(userID: String) -> PusherPresenceChannelMember? { findMember(userId: userID) }

    /// The user id this client is in the channel with; nil while it isn't.
    public var myId: String? {
        readConnection { connection, channel in channel.isSubscribed ? (channel.me ?? connection.user.id)?.text : nil } ?? nil
    }

    /// This client's own member.
    public func me() -> PusherPresenceChannelMember? {
        myId.flatMap { findMember(userId: $0) }
    }

    /// The member with this user id.
    public func findMember(userId: String) -> PusherPresenceChannelMember? {
        (read { $0.presentMembers[Name(userId)] } ?? nil).map(PusherPresenceChannelMember.init)
    }
}
