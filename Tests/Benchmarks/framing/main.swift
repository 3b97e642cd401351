import Glibc

/// Returns the number of times that this program has asked the C library for memory.
@_silgen_name("allocations_so_far")
func allocationsSoFar() -> Int

/// The number of bytes that one read brings.
let readSize = 64 * 1024
let rounds = 7

/// Returns as many whole frames of a server as fit into `total` bytes, by default those of one read, and their number.
func frames(payload size: Int, opcode: UInt8, filling total: Int = readSize) -> (bytes: [UInt8], count: Int) {
    var frame: [UInt8] = [0x80 | opcode]
    frame += size < 126 ? [UInt8(size)] : [126, UInt8(size >> 8), UInt8(size & 0xFF)]
    frame += [UInt8](repeating: UInt8(ascii: "x"), count: size)
    let count = total / frame.count
    return (Array([[UInt8]](repeating: frame, count: count).joined()), count)
}

/// Returns the processor time of this thread in nanoseconds, because the wall clock of a shared machine says little.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// Prints the median and the best of several rounds, per unit.
func measure(_ name: String, units: Int, _ body: () -> Void) {
    body()
    let before = allocationsSoFar()
    body()
    let allocated = allocationsSoFar() - before
    let times = (0..<rounds).map { _ in
        let start = now()
        body()
        return (now() - start) / Double(units)
    }.sorted()
    let text = [times[rounds / 2], times[0]].map { "\(($0 * 10).rounded() / 10)" }
    print("\(name): median \(text[0]) ns, best \(text[1]) ns, \(allocated) allocations in \(units)")
}

/// Measures a conversation that gets reads of frames of one size, and copies of the same bytes for comparison.
func measureReading(payload size: Int) {
    let repeats = 2000
    for (name, opcode) in [("binary (no UTF-8 check)", UInt8(2)), ("text", 1)] {
        let (bytes, count) = frames(payload: size, opcode: opcode)
        var conversation = WebSocketConversation(maximumSize: 16 << 20, closeTimeout: .seconds(2)) { 0 }
        var sum = 0
        bytes.withUnsafeBytes { bytes in
            measure("read \(size) B \(name)", units: count * repeats) {
                for _ in 0..<repeats {
                    conversation.receive(bytes)
                    conversation.takeMessages { batch in batch.forEach { sum &+= $1.count } }
                }
            }
        }
        guard sum == size * count * repeats * (rounds + 2) else { fatalError("messages were lost") }
    }
    let (bytes, count) = frames(payload: size, opcode: 1)
    var copy = [UInt8](repeating: 0, count: bytes.count)
    measure("memcpy of the same", units: count * repeats) {
        for _ in 0..<repeats {
            bytes.withUnsafeBytes { bytes in copy.withUnsafeMutableBytes { $0.copyMemory(from: bytes) } }
        }
    }
}

/// Measures frames that reads split, one in each 64 KiB.
func measureSplitReading(payload size: Int) {
    let (bytes, count) = frames(payload: size, opcode: 1, filling: 64 * readSize)
    var conversation = WebSocketConversation(maximumSize: 16 << 20, closeTimeout: .seconds(2)) { 0 }
    bytes.withUnsafeBytes { bytes in
        measure("read \(size) B text, one split in each read", units: count * 30) {
            for _ in 0..<30 {
                for start in stride(from: 0, to: bytes.count, by: readSize) {
                    conversation.receive(
                        UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + readSize, bytes.count)]))
                    conversation.takeMessages { _ in }
                }
            }
        }
    }
}

func measureWriting(payload size: Int) {
    let text = String(repeating: "x", count: size)
    var key: UInt32 = 0
    var conversation = WebSocketConversation(maximumSize: 16 << 20, closeTimeout: .seconds(2)) {
        key &+= 0x9E37_79B9
        return key
    }
    measure("write \(size) B text", units: 2000) {
        for _ in 0..<2000 {
            conversation.send(text)
            conversation.write { $0.count }
        }
    }
}

func measureText(_ name: String, _ text: String) {
    let bytes = Array(text.utf8)
    var good = 0
    bytes.withUnsafeBytes { bytes in
        measure("UTF-8 check of \(bytes.count) B \(name)", units: 2000) {
            for _ in 0..<2000 where UTF8Validator.isText(bytes) { good += 1 }
        }
    }
    guard good == 2000 * (rounds + 2) else { fatalError("not text") }
}

measureReading(payload: 95)
measureReading(payload: 1000)
measureSplitReading(payload: 95)
measureSplitReading(payload: 1000)
measureText("ASCII", String(repeating: "x", count: 65_536))
measureText("Chinese", String(repeating: "文", count: 21_845))
measureText("ASCII with an é in 32", String(repeating: "é" + String(repeating: "x", count: 30), count: 2_048))
measureWriting(payload: 95)
measureWriting(payload: 65_536)
