import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Checks an authorization endpoint's response: as bytes of a connection that go through the HTTP reader, and as a body that goes
/// to the requester.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var input = FuzzInput(data, size)
    let asked = AuthorizationSubject(input.choice())
    let status = AuthorizationSubject.statuses[input.choice() % AuthorizationSubject.statuses.count]
    let sizes = input.choices()
    let bytes = input.rest

    let whole = ResponseRun.outcome(of: [bytes])
    for sizes in [sizes, [1]] {
        let cut = ResponseRun.outcome(of: pieces(of: bytes, sizes: sizes))
        require(cut == whole, "cut into \(sizes) it is \(cut), not \(whole)")
    }
    if case .response(let response, _) = whole { ResponseCheck(response).check(asked) }

    // The bytes as a body, in every framing that a body may have.
    let response = HTTPResponse(status: status, fields: [], body: Array(bytes), reuse: nil)
    ResponseRun.checkFramings(of: response, sizes: sizes)
    ResponseCheck(response).check(asked)
    return 0
}
