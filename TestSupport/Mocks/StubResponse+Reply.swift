import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension StubResponse {
    /// Returns the reply with which an in-memory session completes a request.
    func reply(to request: URLRequest) -> MockTask.Reply {
        var reply = MockTask.Reply(outcome: outcome ?? response(to: request), delay: delay, gate: gate)
        reply.timeout = request.timeLimit
        fault?.change(&reply)
        return reply
    }

    private func response(to request: URLRequest) -> MockTask.Outcome {
        guard let url = request.url else { return .init(error: URLError(.badURL)) }
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        return .init(data: body, urlResponse: response)
    }
}

extension Fault {
    /// Changes an in-memory reply to the outcome that `URLSession` reports for this fault on a network.
    fileprivate func change(_ reply: inout MockTask.Reply) {
        switch self {
        case .error(let code): reply.outcome = .init(error: URLError(code))
        case .refused: reply.outcome = .init(error: URLError(.cannotConnectToHost))
        case .reset(.bytes(0)): reply.outcome = .init(error: URLError(.networkConnectionLost))
        case .latency(let delay): reply.delay += delay
        case .bandwidth(let bytes): reply.delay += Shaper.time(for: reply.outcome.data?.count ?? 0, at: Shaper.possible(bytes))
        case .stall(.bytes(0)): reply.gate = Gate()
        default: reply.outcome = .init(error: UnsupportedFault(fault: self, seam: .mockSession))
        }
    }
}
