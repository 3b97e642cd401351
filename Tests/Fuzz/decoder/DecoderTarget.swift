/// Decodes a text as values of many types, with this package's decoder and Foundation's.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let text = Array(FuzzInput(data, size).rest)
    guard String(validating: text, as: UTF8.self) != nil else {
        DecoderComparison.decode(text)
        return 0
    }
    if let disagreement = DecoderComparison.disagreement(about: text) { require(false, disagreement) }
    return 0
}
