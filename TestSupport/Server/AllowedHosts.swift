#if LocalServer
import PusherChannels

/// The names under which a server is asked for, and whose web pages use it: those of this machine's loopback interface, and any
/// others that it is given.
///
/// A browser shows any web page, and lets each of them send requests to this machine. It names the page's origin with each that may
/// change something or opens a WebSocket. A page that points its own name to this machine (DNS rebinding) asks under that name.
package struct AllowedHosts: Sendable {
    private let names: [String]

    package init(alsoNamed others: [String] = []) {
        names = ["127.0.0.1", "localhost"] + others
    }

    /// Returns the reason why a request isn't served, or `nil`. Programs other than browsers name no origin.
    package func refusal(of request: RecordedRequest) -> String? {
        let host = request.header("Host") ?? ""
        guard isAllowed(host.utf8[...]) else {
            return "This server is not known as \(host.asLogValue(upTo: 100)): \(Self.advice)"
        }
        guard let origin = request.header("Origin"), !isAllowed(Self.authority(of: origin)) else { return nil }
        return "Pages of \(origin.asLogValue(upTo: 100)) may not use this server: \(Self.advice)"
    }

    private static let advice = "`pusher-channels serve --allow-host NAME` allows another name, and --allow-any-host all of them."

    /// Returns an origin's host and port; nothing if it has none, as that of a page in a sandbox.
    private static func authority(of origin: String) -> Substring.UTF8View {
        let scheme = origin.utf8.prefix { $0 != UInt8(ascii: ":") }
        let rest = origin.utf8[scheme.endIndex...]
        return rest.starts(with: "://".utf8) ? rest.dropFirst(3) : rest.suffix(0)
    }

    /// Returns whether a text is one of the names, with a port or without one.
    private func isAllowed(_ authority: Substring.UTF8View) -> Bool {
        let name = authority.prefix { $0 != UInt8(ascii: ":") }
        guard authority[name.endIndex...].dropFirst().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return false
        }
        return names.contains { $0.isSameWord(as: String(Substring(name))) }
    }
}
#endif
