import Foundation
import PusherTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct SwiftTestingAppTests {
    @Test func anAppsOwnClientIsServed() async throws {
        try await withTestHarness { harness in
            let inbox = Inbox()
            let feed = OrderFeed(harness.pusherEnvironment(), onOrder: inbox.add)
            #expect(feed.orders.subscribed)
            harness.server.publish(channel: "private-orders", event: "placed", data: "7")
            try await harness.eventually("the order is known") { inbox.all == ["7"] }
            #expect(harness.timeline.entries.contains { $0.kind == "server" && $0.text.contains("app-key") })
        }
    }

    @Test func aKeyOfNoNamedAppIsRefused() throws {
        try withTestHarness(apps: [ServerApp(id: "7", key: "another", secret: "secret")]) { harness in
            let feed = OrderFeed(harness.pusherEnvironment()) { _ in }
            #expect("\(feed.orders)".hasSuffix("App key app-key not in this cluster (code 4001)"))
        }
    }

    @Test func aRequestThatIsKnownIsLateByTheClock() async throws {
        try await withTestHarness { harness in
            harness.session.stub("GET /late", .ok.delayed(by: .seconds(30)))
            let urlSession = URLSession(configuration: harness.session.urlSessionConfiguration())
            let url = try #require(URL(string: "https://api.example.com/late"))
            for _ in 1...200 {
                async let response = urlSession.data(from: url)
                try await harness.session.nextRequest("GET /late")
                harness.scheduler.advance(by: .seconds(30))
                _ = try await response
            }
        }
    }

    @Test func anErrorForPeopleSaysWhatWasNotStubbed() throws {
        try withKnownIssue {
            try withTestHarness { harness in
                let url = try #require(URL(string: "https://api.example.com/late"))
                harness.session.dataTask(with: URLRequest(url: url)) { _, _, error in
                    #expect(error?.localizedDescription == "nothing answers GET https://api.example.com/late: nothing is stubbed")
                }.resume()
            }
        } matching: {
            $0.error is TestFailure
        }
    }

    @Test func theResultOfAHarnessNeedNotBeUsed() throws {
        try withTestHarness { $0.scheduler.runNextTimer() }
    }
}
