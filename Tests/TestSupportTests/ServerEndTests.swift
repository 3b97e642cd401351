import Foundation
import PusherChannels
import Testing

@testable import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The end of a server when some of its routes don't end.
struct ServerEndTests {
    @Test func aRouteThatGoesOnIsNamedAndNotWaitedFor() async {
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        defer { continuation.finish() }
        let names = await ServerEnd.wait(patience: .milliseconds(1)) {
            for await _ in end {}
        } unless: {
            ["route /slow"]
        }
        #expect(names == ["route /slow"])
    }

    @Test func routesThatEndOneAfterTheOtherAreWaitedFor() async {
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        let looks = Locked(0)
        let names = await ServerEnd.wait(patience: .milliseconds(1)) {
            for await _ in end {}
        } unless: {
            let look = looks.withLock { looks in
                looks += 1
                return looks
            }
            if look == 5 { continuation.finish() }
            return ["route \(look)"]
        }
        #expect(names == [])
    }

    @Test func aRouteGoesOnUntilItHasResponded() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.router.on("/names") { [weak router = server.router] _ in
                StubResponse(text: router?.goingOn.joined() ?? "")
            }
            let url = try #require(URL(string: "\(server.url)/names"))
            let (data, _) = try await URLSession.shared.data(from: url)
            #expect(String(decoding: data, as: UTF8.self).hasPrefix("route /names (ServerEndTests.swift:"))
            #expect(server.router.goingOn == [])
        }
    }
}
