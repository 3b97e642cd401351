import TestSupport
import XCTest

/// Walks through the app in XCTest, with a harness for each test case.
final class TradingAppXCTests: XCTestCase {
    private let harness = TestHarness()
    private let trade = TradingAppTests.trade

    override func tearDownWithError() throws {
        try harness.verify(hasFailed: testRun?.totalFailureCount != 0)
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
}
