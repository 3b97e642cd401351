import PusherChannels
import TestSupport

extension PusherStream<PusherEvent> {
    /// The data of so many events, fewer where the stream ends before.
    func data(of count: Int) async throws -> [String?] {
        var data: [String?] = []
        for try await event in self {
            data.append(event.data)
            if data.count == count { break }
        }
        return data
    }
}

extension ClientRig {
    /// Publishes events `n` with these numbers as their data.
    func publish(_ numbers: Range<Int>, on channel: String = "news") {
        for number in numbers { socket.publish(channel: channel, event: "n", data: "\(number)") }
    }
}
