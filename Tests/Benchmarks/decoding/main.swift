/// Reads events of 95 bytes as they come over the wire, a given number of times, while valgrind counts instructions. Only this
/// layer is measured, compiled with its sources.
let texts = (1...500).map { number in
    let price = "\(100 + number / 4).\(["25", "50", "75", "01"][number % 4])"
    return #"{"event":"tick","channel":"bench","data":"{\"n\":\#(100 + number),\"price\":\#(price),\"s\":\"ACMEINTLXACM\"}"}"#
}

/// In a function, because each access to a global variable would be checked for exclusivity, and counted.
func read(_ wanted: Int, of frames: [[UInt8]]) -> Int {
    var decoder = EnvelopeDecoder()
    var read = 0
    for index in 0..<wanted {
        let frame = frames[index % frames.count]
        do throws(MalformedMessage) {
            if case .event = try decoder.decode(frame, 0..<frame.count) { read += 1 }
        } catch {
            print(error)
        }
    }
    return read
}

print(read(CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 0, of: texts.map { Array($0.utf8) }))
