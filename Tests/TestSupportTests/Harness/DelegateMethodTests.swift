import Foundation
import Testing

@testable import TestSupport

/// A delegate with methods that nearly match the protocol's. No client calls them, and the compiler doesn't warn about them.
private final class NearDelegate: PusherDelegate {
    func receivedError(_ error: PusherError) {}
    func signedIn(userID: String) async {}
    func failedToSubscribeToChannel(name: String, error: any Error) {}
    func subscribedToChanel(name: String) {}
    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {}
    func signIn() {}
}

private class BaseDelegate: PusherDelegate {
    func failedToSignIn(error: NSError) {}
    required init() {}
}

private final class DerivedDelegate: BaseDelegate {}

private final class RightDelegate: PusherDelegate {
    func receivedError(error: PusherError) { receivedError(error) }
    func receivedError(_ error: PusherError) {}
    func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {}
}

/// A delegate with types that have methods of their own, which no client is meant to call.
private final class DelegateWithTypes: PusherDelegate {
    final class Account {
        func signedIn(_ number: Int) {}
    }

    private enum Row {
        final class Cell {
            func subscribedToChanel(name: String) {}
        }
    }
}

@MainActor private final class NearMainActorDelegate: MainActorPusherDelegate {
    func receivedError(_ error: PusherError) {}
}

@Suite struct DelegateMethodTests {
    private let advice = ". If it is the app's own, give it another name, or allow `.nearMiss`"

    private func findings(of delegate: AnyObject) -> [String] {
        DelegateMethods.nearMisses(of: delegate).map { finding in
            "\(finding)".replacing(#/TestSupportTests\.(\(unknown context at \$\w+\)\.)?/#, with: "").replacing(advice, with: "")
        }
    }

    #if os(Linux) && DEBUG  // An optimized build leaves out methods that nobody calls.
    @Test func `A delegate method that nearly matches is named together with the one that is meant`() {
        #expect(
            findings(of: NearDelegate()).sorted() == [
                """
                near miss: NearDelegate has failedToSubscribeToChannel(name: Swift.String, error: Swift.Error) -> (), which \
                no client calls: a delegate has failedToSubscribeToChannel(name: Swift.String, error: PusherChannels.PusherError) -> ()
                """,
                """
                near miss: NearDelegate has receivedError(PusherChannels.PusherError) -> (), which no client calls: a delegate has \
                receivedError(error: PusherChannels.PusherError) -> ()
                """,
                """
                near miss: NearDelegate has signedIn(userID: Swift.String) async -> (), which no client calls: a delegate has \
                signedIn(userID: Swift.String) -> ()
                """,
                """
                near miss: NearDelegate has subscribedToChanel(name: Swift.String) -> (), which no client calls: a delegate has \
                subscribedToChannel(name: Swift.String) -> ()
                """,
            ])
    }

    @Test func `A method of the app's own that a test calls is said to be called by no client, with the ways out`() throws {
        final class Account: PusherDelegate {
            let user = Locked(0)
            func signedIn(_ number: Int) { user.withLock { $0 = number } }
        }
        let account = Account()
        account.signedIn(7)
        let found = try #require(DelegateMethods.nearMisses(of: account).first?.text)
        #expect(found.hasSuffix(", which no client calls: a delegate has signedIn(userID: Swift.String) -> ()" + advice))
    }

    @Test func `A nearly matching method that a delegate inherits is found`() {
        let found = findings(of: DerivedDelegate()).map { $0.prefix(72) }
        #expect(found == ["near miss: BaseDelegate has failedToSignIn(error: Foundation.NSError) ->"])
    }

    @Test func `A nearly matching method of a class inside a function is found`() {
        final class Misspelled: PusherDelegate {
            func receivedError(error: PusherError) {}
            func subscribedToChanel(name: String) {}
        }
        #expect(
            findings(of: Misspelled()) == [
                """
                near miss: DelegateMethodTests.Misspelled has subscribedToChanel(name: Swift.String) -> (), which no client calls: a delegate has \
                subscribedToChannel(name: Swift.String) -> ()
                """
            ])
        let inClosure: () -> [String] = {
            final class Right: PusherDelegate {
                func subscribedToChannel(name: String) {}
                func receivedError(error: PusherError) {}
            }
            return findings(of: Right())
        }
        #expect(inClosure() == [])
    }

    @Test func `Only a delegate's own methods are nearly matching, not those of types nested in it`() {
        final class Misspelled: PusherDelegate {
            final class Account {
                func signedIn(_ number: Int) {}
            }
            func subscribedToChanel(name: String) {}
        }
        #expect(findings(of: DelegateWithTypes()) == [])
        #expect(findings(of: Misspelled()).map { $0.contains("subscribedToChanel") } == [true])
    }

    @Test @MainActor func `A nearly matching method of a main-actor delegate is found`() {
        #expect(findings(of: NearMainActorDelegate()).count == 1)
    }
    #endif

    @Test func `A similar method beside one that matches is no near miss`() {
        #expect(findings(of: RightDelegate()) == [])
        #expect(findings(of: RecordingDelegate()) == [])
        #expect(findings(of: NSObject()) == [])
    }

    @Test func `A harness finds near misses in its clients' delegates, once per class`() throws {
        let failure = try failingTest { harness in
            let delegates = [BaseDelegate(), BaseDelegate()]
            for delegate in delegates {
                harness.makePusher().delegate = delegate
                OrderFeed(environment: harness.pusherEnvironment()).pusher.delegate = delegate
            }
            _ = delegates
            harness.record("done")
        }
        #if os(Linux) && DEBUG  // An optimized build leaves out methods that nobody calls.
        #expect(failure.findings.map(\.kind) == [.nearMiss, .error])
        #endif
    }

    @Test(arguments: [
        ("receivedError", "receivedError", true), ("receivederror", "receivedError", true),
        ("receiveError", "receivedError", true), ("recievedError", "receivedError", true),
        ("recevidError", "receivedError", false), ("signIn", "signedIn", false),
        ("signedOn", "signedIn", true), ("signedInn", "signedIn", true), ("", "signedIn", false),
    ])
    func `Method names are near if they differ in one character or in a swap of two`(first: String, second: String, isNear: Bool)
    {
        #expect(DelegateMethods.isNear(first, second) == isNear)
        #expect(DelegateMethods.isNear(second, first) == isNear)
    }

    @Test(arguments: [
        ("App.D.a(b: Swift.Int) -> ()", "a(b: Swift.Int) -> ()"),
        ("(extension in Other):App.D.a() -> ()", "a() -> ()"),
        ("App.(P in _2BEF).a(App.D) -> ()", "a(App.D) -> ()"),
        ("App.D.a(b: Swift.Int) async throws -> ()", "a(b: Swift.Int) async throws -> ()"),
        ("static App.D.a() -> ()", nil), ("type metadata for App.D", nil), ("closure #1 () -> () in App.D.a() -> ()", nil),
        ("async function pointer to App.D.a() async -> ()", nil), ("App.D.b.getter : Swift.Int", nil), ("", nil),
    ])
    func `A symbol's method signature is the part after its type, and only methods have one`(symbol: String, method: String?) {
        #expect(DelegateMethods.signature(symbol) == method)
    }

    @Test(arguments: ["/dev/null", "/nonexistent", "/etc/passwd"])
    func `A file that is no program has no symbols`(path: String) {
        #expect(Symbols(ofFile: path).demangled(beginningWith: "$s") == [])
    }
}
