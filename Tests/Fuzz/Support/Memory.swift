/// Calls `body` with a copy that is freed afterwards: who looks at it later, or beyond its end, is caught.
func withMemory<Result>(of bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: bytes)
    return body(UnsafeRawBufferPointer(memory))
}
