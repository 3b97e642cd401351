import Foundation
import PusherChannels

/// The names of a program's symbols, including those of everything linked into it, read from its file. There are none if the file
/// is stripped or isn't an ELF file.
struct Symbols: Sendable {
    /// The symbols of the running program, read on first use.
    static let ofProgram = Symbols(ofFile: "/proc/self/exe")

    private let file: Data
    /// The range of the symbols in the file, 24 bytes each.
    private let entries: Range<Int>
    /// The range of the symbols' names in the file, each followed by a zero byte.
    private let names: Range<Int>

    init(ofFile path: String) {
        #if os(Linux)
        file = (try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)) ?? Data()
        #else
        file = Data()
        #endif
        (entries, names) = file.withUnsafeBytes { ELF(bytes: $0).symbols } ?? (0..<0, 0..<0)
    }

    /// Returns the mangled name of a class, such as `$s3App8DelegateC`. It is looked up by address, because the runtime has no
    /// name for private types.
    func mangledName(of type: AnyClass) -> String? {
        guard let known = _mangledTypeName(MockSession.self), let place = value(of: "$s\(known)N") else { return nil }
        // The distance from a class with a known symbol to this class is the same in memory as in the file.
        let address =
            UInt64(UInt(bitPattern: ObjectIdentifier(type))) &- UInt64(UInt(bitPattern: ObjectIdentifier(MockSession.self)))
        let name = name(at: place &+ address) { $0.hasPrefix("$s") && $0.hasSuffix("CN") }
        return name.map { String($0.dropLast()) }
    }

    private func value(of name: String) -> UInt64? {
        file.withUnsafeBytes { bytes in
            let wanted = Array(name.utf8CString)
            for entry in stride(from: entries.lowerBound, to: entries.upperBound, by: ELF.entrySize) {
                let place = names.lowerBound + Int(bytes.loadUnaligned(fromByteOffset: entry, as: UInt32.self))
                guard place + wanted.count <= names.upperBound, let base = bytes.baseAddress,
                    memcmp(base + place, wanted, wanted.count) == 0
                else { continue }
                return bytes.loadUnaligned(fromByteOffset: entry + 8, as: UInt64.self)
            }
            return nil
        }
    }

    private func name(at value: UInt64, where isWanted: (String) -> Bool) -> String? {
        file.withUnsafeBytes { bytes in
            for entry in stride(from: entries.lowerBound, to: entries.upperBound, by: ELF.entrySize)
            where bytes.loadUnaligned(fromByteOffset: entry + 8, as: UInt64.self) == value {
                let place = names.lowerBound + Int(bytes.loadUnaligned(fromByteOffset: entry, as: UInt32.self))
                guard place < names.upperBound else { continue }
                let name = String(decoding: bytes[place..<names.upperBound].prefix { $0 != 0 }, as: UTF8.self)
                if isWanted(name) { return name }
            }
            return nil
        }
    }

    /// Returns the demangled forms of the names that begin with a type's mangled name, except for those of types nested in it.
    func demangled(beginningWith prefix: String) -> [String] {
        let found = file.withUnsafeBytes { bytes in
            Self.names(beginningWith: Array(prefix.utf8), in: UnsafeRawBufferPointer(rebasing: bytes[names]))
        }
        // Every type has a descriptor, whose name is the type's and `Mn`.
        let nested = found.filter { $0.hasSuffix("Mn") }.map { String($0.dropLast(2)) }.filter { $0 != prefix }
        return found.filter { name in !nested.contains { name.hasPrefix($0) } }.compactMap(Self.demangle)
    }

    private static func names(beginningWith prefix: [UInt8], in bytes: UnsafeRawBufferPointer) -> [String] {
        guard let base = bytes.baseAddress else { return [] }
        var found: [String] = []
        var position = 0
        while position < bytes.count {
            let name = base + position
            let length = strnlen(name.assumingMemoryBound(to: CChar.self), bytes.count - position)
            if length > prefix.count, memcmp(name, prefix, prefix.count) == 0 {
                found.append(String(decoding: UnsafeRawBufferPointer(start: name, count: length), as: UTF8.self))
            }
            position += length + 1
        }
        return found
    }

    private typealias Demangle =
        @convention(c) (
            _ name: UnsafePointer<CChar>?, _ length: Int, _ buffer: UnsafeMutablePointer<CChar>?,
            _ size: UnsafeMutablePointer<Int>?,
            _ flags: UInt32
        ) -> UnsafeMutablePointer<CChar>?

    /// The standard library's demangler, which has no declaration.
    private static let demangler: Demangle? = dlsym(dlopen(nil, RTLD_LAZY), "swift_demangle").map {
        unsafeBitCast($0, to: Demangle.self)
    }

    private static func demangle(_ name: String) -> String? {
        guard let text = demangler?(name, name.utf8.count, nil, nil, 0) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}

/// The part of the program format (ELF, 64 bits, little endian) that is needed to find the names of symbols.
private struct ELF {
    let bytes: UnsafeRawBufferPointer

    private func number<Number: FixedWidthInteger>(_: Number.Type, at offset: Int) -> Int? {
        guard offset >= 0, bytes.count >= MemoryLayout<Number>.size, offset <= bytes.count - MemoryLayout<Number>.size else {
            return nil
        }
        return Int(exactly: Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self)))
    }

    static var entrySize: Int { 24 }

    /// The ranges of the symbol table and of its string table.
    var symbols: (entries: Range<Int>, names: Range<Int>)? {
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]), let table = number(UInt64.self, at: 0x28),
            let size = number(UInt16.self, at: 0x3A), let count = number(UInt16.self, at: 0x3C), table < bytes.count
        else { return nil }
        let symbolTable = (0..<count).map { table + $0 * size }.first { number(UInt32.self, at: $0 + 4) == 2 }
        guard let symbolTable, let strings = number(UInt32.self, at: symbolTable + 0x28), strings < count,
            let entries = content(ofSection: symbolTable), let names = content(ofSection: table + strings * size)
        else { return nil }
        return (entries.lowerBound..<(entries.upperBound - entries.count % Self.entrySize), names)
    }

    private func content(ofSection header: Int) -> Range<Int>? {
        guard let offset = number(UInt64.self, at: header + 0x18), let length = number(UInt64.self, at: header + 0x20),
            offset <= bytes.count, length <= bytes.count - offset
        else { return nil }
        return offset..<(offset + length)
    }
}
