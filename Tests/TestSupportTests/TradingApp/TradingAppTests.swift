import Foundation
import TestSupport
import Testing

/// The app as its developer tests it: time advances, and `eventually` proves each step.
@Suite struct TradingAppTests {
    static let trade = Trade(side: .buy, symbol: "ACME", quantity: 7, cents: 95)
    static let holdings = [Holding(symbol: "ACME", quantity: 7)]

    /// Runs a test with a trader who is logged in, and logs out.
    private func withDesk(line: Int = #line, _ body: (TestHarness, TradingDesk) async throws -> Void) async throws {
        try await withTestHarness(line: line) { harness in
            let desk = try await harness.openDesk()
            try await body(harness, desk)
            await desk.logOut()
        }
    }

    @Test func `A trader who logs in sees prices, orders, holdings and who is there`() async throws {
        try await withDesk { harness, desk in
            harness.publish("ACME", 100)
            harness.publish(Order(id: "1", trade: Self.trade, status: .accepted))
            try await harness.step("the price and the order are shown") {
                let (price, order) = await (desk.prices.entries["ACME"], desk.orders.orders["1"])
                return price?.cents == 100 && order?.status == .accepted
            }
            #expect(await desk.portfolio.holdings == Self.holdings)
            #expect(desk.room.traders == ["ann"])
        }
    }

    @Test func `A price that nobody renews is stale after fifteen seconds, and the broker is asked for it`() async throws {
        try await withDesk { harness, desk in
            let gate = Gate()
            harness.session.stub("GET /prices/ACME", .json(Price(symbol: "ACME", cents: 102)).held(by: gate))
            for cents in [100, 101] {
                harness.publish("ACME", cents)
                try await harness.step("the price is shown") { await desk.prices.entries["ACME"]?.cents == cents }
                try await harness.step("it is fresh", after: .seconds(14)) { await desk.prices.entries["ACME"]?.isStale == false }
            }
            try await harness.step("it is stale, and asked for", after: .seconds(1)) {
                await desk.prices.entries["ACME"]?.isStale == true && gate.waitingCount == 1
            }
            gate.open()
            try await harness.step("the broker's price is shown") {
                await desk.prices.entries["ACME"].map { $0.cents == 102 && !$0.isStale } ?? false
            }
        }
    }

    @Test func `A limit order is placed when the price crosses its limit`() async throws {
        try await withDesk { harness, desk in
            let placing = harness.session.stub("POST /orders", .json(Order(id: "1", trade: Self.trade, status: .accepted)))
            await desk.limits.add("cheap", Self.trade)
            harness.publish("ACME", 96)
            harness.publish("BETA", 90)
            try await harness.step("both prices are shown") { await desk.prices.entries.count == 2 }
            #expect(await desk.limits.state(of: "cheap") == .waiting)
            harness.publish("ACME", 95)
            try await harness.step("the order is placed") { await desk.limits.state(of: "cheap") == .placed(orderID: "1") }
            #expect(try placing.requests.map { try $0.decode(Trade.self) } == [Self.trade])
            harness.publish(Order(id: "1", trade: Self.trade, status: .filled))
            try await harness.step("the order is filled") { await desk.orders.orders["1"]?.status == .filled }
        }
    }

    @Test func `An order that a busy broker doesn't take is placed again, each time after twice the pause`() async throws {
        try await withDesk { harness, desk in
            let answer = StubResponse.json(Order(id: "1", trade: Self.trade, status: .accepted))
            let placing = harness.session.stub("POST /orders", .http(503), .failure(.networkConnectionLost), .http(429), answer)
            await desk.limits.add("cheap", Self.trade)
            harness.publish("ACME", 90)
            for attempt in 1...3 {
                try await harness.step("attempt \(attempt) has failed", after: .seconds(attempt - 1)) {
                    placing.callCount == attempt
                }
            }
            try await harness.step("the order is placed", after: .seconds(4)) {
                await desk.limits.state(of: "cheap") == .placed(orderID: "1")
            }
        }
    }

    @Test func `An order that the broker refuses has failed at once`() async throws {
        try await withDesk { harness, desk in
            harness.session.stub("POST /orders", .http(422)).times(1)
            await desk.limits.add("cheap", Self.trade)
            harness.publish("ACME", 90)
            try await harness.step("it has failed") { await desk.limits.state(of: "cheap") == .failed(.refused(status: 422)) }
        }
    }

    @Test func `An order that is withdrawn before the next attempt is never placed`() async throws {
        try await withDesk { harness, desk in
            let placing = harness.session.stub("POST /orders", .http(503)).times(1)
            await desk.limits.add("cheap", Self.trade)
            harness.publish("ACME", 90)
            try await harness.step("the first attempt has failed") { placing.callCount == 1 }
            await desk.limits.withdraw("cheap")
            try await harness.step("it stays so", after: .seconds(10)) { await desk.limits.state(of: "cheap") == .withdrawn }
        }
    }

    @Test func `The broker is asked for a quote once the trader has stopped typing`() async throws {
        try await withDesk { harness, desk in
            let asked = harness.session.stub("GET /quotes/ACME", .json(Quote(symbol: "ACME", cents: 7)))
            for typed in ["A", "AC", "ACME"] {
                await desk.quotes.ask(typed, quantity: 7)
                try await harness.step("nothing is asked yet", after: .milliseconds(299)) {
                    await desk.quotes.state == .asking(symbol: typed) && asked.callCount == 0
                }
            }
            try await harness.step("the quote is shown", after: .milliseconds(1)) {
                await desk.quotes.state == .shown(Quote(symbol: "ACME", cents: 7))
            }
            #expect(asked.callCount == 1)
        }
    }

    @Test func `A newer request for a quote cancels the one under way`() async throws {
        try await withDesk { harness, desk in
            let gate = Gate()
            harness.session.stub("GET /quotes/ACME", .json(Quote(symbol: "ACME", cents: 1)).held(by: gate))
            let second = Quote(symbol: "BETA", cents: 2)
            let asked = harness.session.stub("GET /quotes/BETA", .json(second).delayed(by: .seconds(2)))
            await desk.quotes.ask("ACME", quantity: 1)
            try await harness.step("the first one is under way", after: .milliseconds(300)) { gate.waitingCount == 1 }
            await desk.quotes.ask("BETA", quantity: 1)
            try await harness.step("it is cancelled") { gate.waitingCount == 0 }
            gate.open()
            try await harness.step("the second one is under way", after: .milliseconds(300)) { asked.callCount == 1 }
            try await harness.step("the second is shown", after: .seconds(2)) { await desk.quotes.state == .shown(second) }
        }
    }

    @Test func `The portfolio is loaded every half minute, until the trader logs out`() async throws {
        try await withDesk { harness, desk in
            let loads = harness.session.stub("GET /portfolio", .json(Self.holdings + Self.holdings))
            for count in 1...3 {
                try await harness.step("load \(count) has come", after: .seconds(30)) {
                    await desk.portfolio.holdings.count == 2 && loads.callCount == count
                }
            }
            let gate = Gate()
            harness.session.stub("GET /portfolio", .json(Self.holdings).held(by: gate))
            try await harness.step("another one is under way", after: .seconds(30)) { gate.waitingCount == 1 }
            await desk.logOut()
            try await harness.step("it is cancelled") { gate.waitingCount == 0 }
            gate.open()
            try await harness.step("nothing follows", after: .seconds(60)) {
                await desk.portfolio.holdings.isEmpty && loads.callCount == 3
            }
        }
    }

    @Test func `A silent broker is given up after four attempts`() async throws {
        try await withDesk { harness, desk in
            let gate = Gate()
            let loads = harness.session.stub("GET /portfolio", .json(Self.holdings).held(by: gate))
            try await harness.step("the first attempt is under way", after: .seconds(30)) { gate.waitingCount == 1 }
            try await harness.step("the second one is, too", after: .seconds(10 + 1)) {
                gate.waitingCount == 1 && loads.callCount == 2
            }
            try await harness.step("the trader is told", after: .seconds(10 + 2 + 10 + 4 + 10)) {
                await desk.portfolio.problem == .silent
            }
            #expect(loads.callCount == Broker.attempts)
        }
    }

    @Test func `A line that comes back reloads the portfolio, and the orders that were missed`() async throws {
        try await withDesk { harness, desk in
            harness.session.stub("GET /orders", .json([Order(id: "8", trade: Self.trade, status: .filled)]))
            harness.session.stub("GET /portfolio", .json(Self.holdings + Self.holdings))
            harness.server.shutdown()
            try await harness.step("the trader sees that the line is lost") { await desk.banner == "reconnecting" }
            try await harness.step("the trader is online again", after: .seconds(10)) { await desk.banner == "online" }
            try await harness.step("what was missed is there") {
                let (holdings, order) = await (desk.portfolio.holdings, desk.orders.orders["8"])
                return holdings.count == 2 && order?.status == .filled
            }
            harness.publish("ACME", 100)
            try await harness.step("prices come again") { await desk.prices.entries["ACME"]?.cents == 100 }
        }
    }

    @Test func `A trader whose orders are late is told so, until they are there`() async throws {
        try await withTestHarness { harness in
            harness.session.stub("POST /channels/auth", .http(503)).times(2)
            let desk = try await harness.openDesk(untilSubscribed: false)
            try await harness.step("the trader is told") { await desk.orders.problem == "orders are late: 503" }
            try await harness.step("the orders are there", after: .seconds(10)) { await desk.orders.problem == nil }
            await desk.logOut()
        }
    }

    @Test func `Traders who come and go are told of`() async throws {
        try await withDesk { harness, desk in
            let bob = harness.makePusher(key: "trading-key") { $0.authMethod = .authorizer(authorizer: Signer(userID: "bob")) }
            bob.subscribe("presence-traders")
            bob.connect()
            try await harness.step("bob has come") { desk.room.news == ["bob came"] && desk.room.traders == ["ann", "bob"] }
            bob.disconnect()
            try await harness.step("bob has left") { desk.room.news == ["bob came", "bob left"] }
        }
    }

    @Test func `The app works with a real URLSession`() async throws {
        try await withTestHarness { harness in
            let urlSession = URLSession(configuration: harness.session.urlSessionConfiguration())
            let desk = try await harness.openDesk { try await urlSession.data(for: $0) }
            harness.session.stub("GET /quotes/ACME", .http(503), .json(Quote(symbol: "ACME", cents: 7)))
            harness.session.stub("GET /portfolio", .json(Self.holdings + Self.holdings))
            await desk.quotes.ask("ACME", quantity: 7)
            try await harness.step("the first attempt has failed", after: .milliseconds(300)) {
                harness.scheduler.pendingTimers.contains { $0.deadline == harness.scheduler.now + .seconds(1) }
            }
            try await harness.step("the quote is shown", after: .seconds(1)) {
                await desk.quotes.state == .shown(Quote(symbol: "ACME", cents: 7))
            }
            // Foundation doesn't bear that a request is cancelled as its response arrives: it has arrived before the logout.
            try await harness.step("the portfolio is loaded", after: .seconds(30)) { await desk.portfolio.holdings.count == 2 }
            await desk.logOut()
        }
    }
}

extension TestHarness {
    /// Makes the app, and logs a trader in who owns something.
    func openDesk(
        untilSubscribed: Bool = true, line: Int = #line,
        request: (@Sendable (URLRequest) async throws -> (Data, URLResponse))? = nil
    ) async throws -> TradingDesk {
        session.stub("GET /portfolio", .json(TradingAppTests.holdings))
        let world = TradingWorld(pusher: pusherEnvironment(line: line), clock: clock, request: request ?? self.request)
        let desk = await TradingDesk(user: "ann", world: world)
        await desk.logIn()
        try await step("the trader is online", line: line) {
            let (banner, holdings) = await (desk.banner, desk.portfolio.holdings)
            return banner == "online" && holdings == TradingAppTests.holdings
        }
        guard untilSubscribed else { return desk }
        try await step("the channels are subscribed", line: line) { [server] in
            server.subscribers(of: "private-orders-ann").count == 1 && desk.room.traders == ["ann"]
        }
        return desk
    }

    func publish(_ symbol: String, _ cents: Int, line: Int = #line) {
        server.publish(channel: "prices", event: "price", data: #"{"symbol":"\#(symbol)","cents":\#(cents)}"#, line: line)
    }

    func publish(_ order: Order, line: Int = #line) {
        server.publish(channel: "private-orders-ann", event: "order", data: StubResponse.json(order).text, line: line)
    }

    /// Advances, then proves that something has come by then: other threads may still be at it, but time stands.
    func step(
        _ what: String, after time: Duration = .zero, file: String = #fileID, line: Int = #line,
        isolation: isolated (any Actor)? = #isolation, _ condition: @escaping @Sendable () async -> Bool
    ) async throws {
        try await advance(by: time, file: file, line: line)
        // What an advance alone would have missed can be counted.
        if ProcessInfo.processInfo.environment["COUNT_STEPS"] != nil {
            print(await condition() ? "step came" : "step missed: \(what), line \(line)")
        }
        do {
            try await eventually(what, within: .zero, file: file, line: line, condition)
        } catch is NeverHappened where time > .zero {
            // On a busy machine a task may have begun its sleep after time had begun to move: it gets as much once more.
            try await eventually(what, within: time, file: file, line: line, condition)
        }
    }
}
