import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An authorization endpoint's answer: as bytes of a connection through the HTTP reader, and as a body to whoever asked for it.
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

    // The bytes as a body, in every way that a body may come.
    let response = HTTPResponse(status: status, fields: [], body: Array(bytes), reuse: nil)
    ResponseRun.checkFramings(of: response, sizes: sizes)
    ResponseCheck(response).check(asked)
    return 0
}
