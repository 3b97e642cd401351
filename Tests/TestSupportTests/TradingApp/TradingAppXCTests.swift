import Foundation
import TestSupport
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The same walks through the app in XCTest, with a harness for each test case.
final class TradingAppXCTests: XCTestCase {
    private let harness = TestHarness()
    private let trade = TradingAppTests.trade

    override func tearDownWithError() throws {
        try harness.verify(hasFailed: testRun?.totalFailureCount != 0)
    }

    func testPricesBecomeStale() async throws {
        let (desk, gate) = (try await harness.openDesk(), Gate())
        harness.session.stub("GET /prices/ACME", .json(Price(symbol: "ACME", cents: 102)).held(by: gate))
        harness.publish("ACME", 100)
        try await harness.step("the price is shown") { await desk.prices.entries["ACME"]?.isStale == false }
        try await harness.step("it is stale", after: .seconds(15)) {
            await desk.prices.entries["ACME"]?.isStale == true && gate.waitingCount == 1
        }
        gate.open()
        try await harness.step("the broker's price is shown") { await desk.prices.entries["ACME"]?.cents == 102 }
        await desk.logOut()
    }

    func testALimitOrderIsPlacedAndFilled() async throws {
        let desk = try await harness.openDesk()
        let answer = StubResponse.json(Order(id: "1", trade: trade, status: .accepted))
        let placing = harness.session.stub("POST /orders", .http(503), .http(503), answer)
        await desk.limits.add("cheap", trade)
        harness.publish("ACME", 96)
        try await harness.step("the price is shown") { await desk.prices.entries["ACME"]?.cents == 96 }
        XCTAssertEqual(placing.callCount, 0)
        harness.publish("ACME", 95)
        try await harness.step("the first attempt has failed") { placing.callCount == 1 }
        try await harness.step("the order is placed", after: .seconds(1 + 2)) {
            await desk.limits.state(of: "cheap") == .placed(orderID: "1")
        }
        harness.publish(Order(id: "1", trade: trade, status: .filled))
        try await harness.step("the order is filled") { await desk.orders.orders["1"]?.status == .filled }
        await desk.logOut()
    }

    func testAWithdrawnOrderIsNeverPlaced() async throws {
        let desk = try await harness.openDesk()
        let placing = harness.session.stub("POST /orders", .http(503)).times(1)
        await desk.limits.add("cheap", trade)
        harness.publish("ACME", 90)
        try await harness.step("the first attempt has failed") { placing.callCount == 1 }
        await desk.limits.withdraw("cheap")
        try await harness.step("it stays withdrawn", after: .seconds(10)) { await desk.limits.state(of: "cheap") == .withdrawn }
        await desk.logOut()
    }

    @MainActor func testANewerQuoteCancelsTheOneUnderWay() async throws {
        let (desk, gate) = (try await harness.openDesk(), Gate())
        harness.session.stub("GET /quotes/ACME", .json(Quote(symbol: "ACME", cents: 1)).held(by: gate))
        harness.session.stub("GET /quotes/BETA", .json(Quote(symbol: "BETA", cents: 2)))
        desk.quotes.ask("ACME", quantity: 1)
        try await harness.step("the first one is under way", after: .milliseconds(300)) { gate.waitingCount == 1 }
        desk.quotes.ask("BETA", quantity: 1)
        try await harness.step("it is cancelled") { gate.waitingCount == 0 }
        try await harness.step("the second quote is shown", after: .milliseconds(300)) {
            await desk.quotes.state == .shown(Quote(symbol: "BETA", cents: 2))
        }
        await desk.logOut()
    }

    func testALogoutCancelsTheRefresh() async throws {
        let (desk, gate) = (try await harness.openDesk(), Gate())
        let loads = harness.session.stub("GET /portfolio", .json(TradingAppTests.holdings).held(by: gate))
        try await harness.step("the portfolio is refreshed", after: .seconds(30)) { gate.waitingCount == 1 }
        await desk.logOut()
        try await harness.step("nothing follows", after: .seconds(60)) { gate.waitingCount == 0 && loads.callCount == 1 }
    }

    func testALineThatComesBackReloads() async throws {
        let desk = try await harness.openDesk()
        harness.session.stub("GET /orders", .json([Order(id: "8", trade: trade, status: .filled)]))
        let loads = harness.session.stub("GET /portfolio", .json(TradingAppTests.holdings))
        harness.server.shutdown()
        try await harness.step("the line is lost") { await desk.banner == "reconnecting" }
        try await harness.step("the trader is online again", after: .seconds(10)) { await desk.banner == "online" }
        try await harness.step("what was missed is there") {
            await desk.orders.orders["8"]?.status == .filled && loads.callCount == 1
        }
        await desk.logOut()
    }

    func testOrdersThatAreLateAreToldOf() async throws {
        harness.session.stub("POST /channels/auth", .http(503)).times(2)
        let desk = try await harness.openDesk(untilSubscribed: false)
        try await harness.step("the trader is told") { await desk.orders.problem == "orders are late: 503" }
        try await harness.step("the orders are there", after: .seconds(10)) { await desk.orders.problem == nil }
        await desk.logOut()
    }

    func testARealURLSession() async throws {
        let urlSession = URLSession(configuration: harness.session.urlSessionConfiguration())
        let desk = try await harness.openDesk { try await urlSession.data(for: $0) }
        harness.session.stub("GET /quotes/ACME", .json(Quote(symbol: "ACME", cents: 7)))
        await desk.quotes.ask("ACME", quantity: 7)
        try await harness.step("the quote is shown", after: .milliseconds(300)) {
            await desk.quotes.state == .shown(Quote(symbol: "ACME", cents: 7))
        }
        await desk.logOut()
    }
}
