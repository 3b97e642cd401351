/// The name by which this library calls itself.
let userAgent = "swift-pusher-channels/\(libraryVersion)"

/// The bytes of a request without a body (RFC 9112, 3).
func requestHead(_ methodAndTarget: String, _ fields: [(name: String, value: String)]) -> [UInt8] {
    var text = "\(methodAndTarget) HTTP/1.1\r\n"
    for (name, value) in fields { text += "\(name): \(value)\r\n" }
    return Array("\(text)\r\n".utf8)
}
