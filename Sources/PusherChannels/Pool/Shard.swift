/// One process's part of the channels that a fleet follows, determined by a hash of their names. No process needs to know of
/// another. When a fleet grows from *n* to *n* + 1 processes, the new one gets its share, and the other channels stay where they
/// are.
public struct Shard: Hashable, Sendable, CustomStringConvertible {
    /// The number of this process, from 0.
    public let index: Int
    /// The number of processes.
    public let count: Int

    /// All channels: a fleet of one.
    public static let whole = Shard(index: 0, count: 1)

    private static let ranks = Rendezvous(salt: 0x73_6861_7264)

    private init(index: Int, count: Int) {
        self.index = index
        self.count = count
    }

    /// Creates the shard of one process.
    ///
    /// - Parameters:
    ///   - index: The number of the process, from 0 to `count` - 1.
    ///   - count: The number of processes, at least one.
    /// - Throws: A ``PusherError`` of the kind `invalidRequest` for other numbers.
    public init(_ index: Int, of count: Int) throws(PusherError) {
        guard count >= 1, (0..<count).contains(index) else {
            throw PusherError(.invalidRequest, message: "there is no shard \(index) of \(count): shards count from 0")
        }
        self.init(index: index, count: count)
    }

    /// Creates the shard that environment variables name: `PUSHER_SHARD_COUNT`, and `PUSHER_SHARD_INDEX` or, without it, the
    /// number at the end of `HOSTNAME`, which is the ordinal of a pod of a StatefulSet. Without a count, the shard has all
    /// channels.
    ///
    /// ```swift
    /// let shard = try Shard(environment: ProcessInfo.processInfo.environment)
    /// ```
    ///
    /// - Parameter variables: The process's environment variables.
    /// - Throws: A ``PusherError`` of the kind `invalidRequest` that says which variable is missing or isn't a suitable number: a
    ///   process must not take another's channels.
    public init(environment variables: [String: String]) throws(PusherError) {
        guard let countText = variables["PUSHER_SHARD_COUNT"] else {
            self = .whole
            return
        }
        guard let count = Int(countText), count >= 1 else {
            throw PusherError(
                .invalidRequest, message: "PUSHER_SHARD_COUNT is \(countText.inLogLine()): a number from 1 is needed")
        }
        let (name, text) =
            if let text = variables["PUSHER_SHARD_INDEX"] {
                ("PUSHER_SHARD_INDEX", text)
            } else {
                ("the end of HOSTNAME", variables["HOSTNAME"]?.split(separator: "-").last.map(String.init) ?? "")
            }
        guard let index = Int(text), (0..<count).contains(index) else {
            throw PusherError(
                .invalidRequest, message: "\(name) is \(text.inLogLine()): a number from 0 to \(count - 1) is needed")
        }
        self.init(index: index, count: count)
    }

    /// Returns whether a channel belongs to this process.
    ///
    /// - Parameter channelName: The channel's name, prefix included.
    public func has(_ channelName: String) -> Bool {
        Self.ranks.holder(of: channelName, among: 0..<count) == index
    }

    /// The index and the count, for example `2 of 10`.
    public var description: String { "\(index) of \(count)" }
}
