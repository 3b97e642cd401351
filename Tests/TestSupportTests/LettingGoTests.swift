import Foundation
import PusherChannels
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a test has let go of is gone, whatever was still to come.
struct LettingGoTests {
    @Test func `A server in memory goes, though its sockets have something to report`() {
        weak var server: InMemoryServer?
        do {
            let made = InMemoryServer()
            _ = made.makeWebSocket()
            server = made
        }
        #expect(server == nil)
    }

    @Test(arguments: [StubResponse.fault(.stall), .ok.delayed(by: .seconds(5))])
    func `A scheduler goes, though a request waits for it`(response: StubResponse) throws {
        weak var scheduler: TestScheduler?
        do {
            let made = TestScheduler()
            let session = MockSession(delivery: .immediate, scheduler: made)
            session.stub("/a", response)
            let url = try #require(URL(string: "http://a/a"))
            session.dataTask(with: URLRequest(url: url)) { _, _, _ in }.resume()
            scheduler = made
            #expect(made.pendingTimers.count > 0)
        }
        #expect(scheduler == nil)
    }
}
