#if canImport(COpenSSL)
import COpenSSL
import Foundation

/// The certificates of a PEM text, in their order.
final class CertificateList {
    let elements: [OpaquePointer]

    init(_ source: PEMSource) throws(WebSocketFailure) {
        elements = try source.withMemory { memory in
            var certificates: [OpaquePointer] = []
            while let certificate = PEM_read_bio_X509(memory, nil, nil, nil) { certificates.append(certificate) }
            return certificates
        }
        // It ends with the error that there is no more.
        let isDamaged = ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE
        ERR_clear_error()
        guard !elements.isEmpty, !isDamaged else {
            elements.forEach { X509_free($0) }
            let problem = isDamaged ? "A certificate is damaged" : "There is no certificate"
            throw TLSContext.unusable("\(problem) in \(source)")
        }
    }

    deinit {
        elements.forEach { X509_free($0) }
    }
}

extension PEMSource {
    /// Calls `body` with the text in a form that OpenSSL reads; it is valid during the call only.
    func withMemory<Result>(_ body: (OpaquePointer) -> Result) throws(WebSocketFailure) -> Result {
        var bytes: [UInt8]
        switch self {
        case .text(let text): bytes = Array(text.utf8)
        case .file(let path):
            guard let data = FileManager.default.contents(atPath: path) else {
                throw TLSContext.unusable("The file \(path) can't be read")
            }
            bytes = Array(data)
        }
        defer { bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
        guard let memory = BIO_new_mem_buf(bytes, Int32(clamping: bytes.count)) else {
            throw TLSContext.unusable("No memory for \(self)")
        }
        defer { BIO_free(memory) }
        return body(memory)
    }

    /// Changes when the file was replaced or rewritten.
    var stamp: FileStamp? {
        guard case .file(let path) = self, let attributes = try? FileManager.default.attributesOfItem(atPath: path) else {
            return nil
        }
        return FileStamp(
            number: (attributes[.systemFileNumber] as? NSNumber)?.uint64Value,
            size: (attributes[.size] as? NSNumber)?.uint64Value, changed: attributes[.modificationDate] as? Date)
    }
}

/// What shows that a file is not the one that it was.
struct FileStamp: Equatable {
    let number: UInt64?
    let size: UInt64?
    let changed: Date?
}
#endif
