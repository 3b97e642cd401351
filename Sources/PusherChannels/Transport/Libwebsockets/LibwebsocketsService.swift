#if canImport(CLibwebsockets)
import CLibwebsockets

/// What the service thread works with. Confined to that thread: it isn't `Sendable`, and only commands get to see it.
final class LibwebsocketsService {
    /// One attempt of libwebsockets to reach one address.
    typealias Wire = UInt

    let loop: LibwebsocketsLoop
    let inbox = MessageInbox()
    private let libwebsockets = LibwebsocketsContext()

    /// The connections that can be commanded: those that haven't reported their end.
    private var connections: [ConnectionKey: LibwebsocketsConnection] = [:]
    /// Who hears of which wire. libwebsockets carries the number as the wire's user data: a number that is gone names
    /// nobody, where a pointer would dangle when a callback comes late, or none comes to say that it may be freed.
    private var wires: [Wire: LibwebsocketsConnection] = [:]
    private var lastWire: Wire = 0
    /// Why the TLS handshake under way failed; its failure is reported from the same call into OpenSSL.
    var tlsReason: String?
    private var unsettled: [LibwebsocketsConnection] = []

    init(loop: LibwebsocketsLoop) {
        self.loop = loop
        libwebsockets.create(for: self)
    }

    /// The context; `nil` if libwebsockets couldn't make one.
    var context: OpaquePointer? { libwebsockets.context }

    /// The virtual host whose settings a connection gets.
    func virtualHost(secure: Bool) -> OpaquePointer? { libwebsockets.virtualHost(secure: secure) }

    /// The keepalive policy of all connections.
    var keepalive: UnsafePointer<lws_retry_bo> { libwebsockets.keepalive }

    func connection(_ key: ConnectionKey) -> LibwebsocketsConnection? { connections[key] }

    func connection(onWire wire: Wire) -> LibwebsocketsConnection? { wires[wire] }

    func open(
        _ request: WebSocketRequest, key: ConnectionKey, report: ConnectionReport, resolve: AddressResolver.Resolve
    ) {
        let connection = LibwebsocketsConnection(service: self, key: key, report: report)
        connections[key] = connection
        connection.start(request, resolve: resolve)
    }

    /// Forgets a connection that has reported its end; its wires may live on for their closing handshake.
    func forget(_ key: ConnectionKey) {
        connections[key] = nil
    }

    func makeWire(for connection: LibwebsocketsConnection) -> Wire {
        lastWire += 1
        wires[lastWire] = connection
        return lastWire
    }

    func cut(_ wire: Wire) {
        wires[wire] = nil
    }

    /// Has a connection go on to its next address soon: not from within a callback about the previous one.
    func settleLater(_ connection: LibwebsocketsConnection) {
        unsettled.append(connection)
    }

    func settle() {
        while let connection = unsettled.popLast() {
            connection.connectToNextAddress()
        }
    }
}
#endif
