#if os(Linux)
import Glibc
@testable import PusherChannels
import Testing

@Suite struct AddressRefusalsTests {
    @Test(arguments: [
        (ECONNREFUSED, TransportError.Kind.connectionRefused), (ETIMEDOUT, .noAnswer), (ENETUNREACH, .unreachable),
    ])
    func theLastOneSaysWhatItWas(number: Int32, kind: TransportError.Kind) {
        let last = SystemError(number: number)
        let others = number == ENETUNREACH ? [number] : [ECONNREFUSED, ETIMEDOUT, ENETUNREACH]
        for before in others.map(SystemError.init) {
            var refusals = AddressRefusals()
            refusals.add("192.0.2.1", before)
            refusals.add("192.0.2.2", last)
            let list = "\(before.text) (address 192.0.2.1), \(last.text) (address 192.0.2.2)"
            #expect(
                refusals.failure(endpoint: "ws.example:80") == TransportError(kind, "ws.example:80 can't be reached: \(list)"))
        }
    }

    /// On a machine with only IPv4, the IPv6 addresses come last; their errors must not hide the real one.
    @Test(arguments: [ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT])
    func thatThereIsNoWayToOneOfThemHidesNothing(number: Int32) {
        var refusals = AddressRefusals()
        refusals.add("192.0.2.1", SystemError(number: ECONNREFUSED))
        refusals.add("2001:db8::1", SystemError(number: number))
        #expect(refusals.failure(endpoint: "ws.example:80").kind == .connectionRefused)
    }
}
#endif
