/// Checks traffic and its files: the input is a file, traffic that is written to one, or the text around a secret that must not
/// get there.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var input = FuzzInput(data, size)
    let (what, name) = (input.choice(), input.choice())
    let text = String(decoding: input.rest, as: UTF8.self)
    switch what {
    case PlantedSecret.places: SnapshotFile.check(text)
    case PlantedSecret.places + 1: checkRecording(of: text)
    default: PlantedSecret(what % PlantedSecret.places, name: name, around: text).check()
    }
    return 0
}
