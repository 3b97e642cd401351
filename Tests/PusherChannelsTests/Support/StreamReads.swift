import PusherChannels
import TestSupport

extension PusherStream<PusherEvent> {
    /// Returns the data of the given number of events, or of fewer if the stream ends first.
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
