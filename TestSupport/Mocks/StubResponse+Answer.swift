import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension StubResponse {
    /// The response as a session in memory completes a request with it.
    func answer(to request: URLRequest) -> MockTask.Answer {
        var answer = MockTask.Answer(outcome: outcome ?? response(to: request), delay: delay, gate: gate)
        answer.timeout = request.timeLimit
        fault?.change(&answer)
        return answer
    }

    private func response(to request: URLRequest) -> MockTask.Outcome {
        guard let url = request.url else { return .init(error: URLError(.badURL)) }
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        return .init(data: body, urlResponse: response)
    }
}

extension Fault {
    /// What this fault makes of an answer in memory: what `URLSession` makes of it on a network.
    fileprivate func change(_ answer: inout MockTask.Answer) {
        switch self {
        case .error(let code): answer.outcome = .init(error: URLError(code))
        case .refused: answer.outcome = .init(error: URLError(.cannotConnectToHost))
        case .reset(.bytes(0)): answer.outcome = .init(error: URLError(.networkConnectionLost))
        case .latency(let delay): answer.delay += delay
        case .stall(.bytes(0)): answer.gate = Gate()
        default: answer.outcome = .init(error: UnsupportedFault(fault: self, seam: .mockSession))
        }
    }
}
