#if canImport(COpenSSL)
import COpenSSL
import Foundation
import Glibc

/// The certificates of a PEM text, in their order.
final class CertificateList {
    private let elements: [OpaquePointer]

    init(_ source: PEMSource) throws(WebSocketFailure) {
        elements = try source.withMemory { memory in
            var certificates: [OpaquePointer] = []
            // One that is encrypted is damaged: asked for nobody's pass phrase, OpenSSL would wait at the terminal.
            while let certificate = PEM_read_bio_X509(memory, nil, { _, _, _, _ in 0 }, nil) { certificates.append(certificate) }
            return certificates
        }
        // It ends with the error that there is no more.
        let isDamaged = OpenSSLError.take() != OpenSSLError(library: ERR_LIB_PEM, reason: PEM_R_NO_START_LINE)
        guard !elements.isEmpty, !isDamaged else {
            let problem = isDamaged ? "A certificate is damaged" : "There is no certificate"
            throw TLSContext.unusable("\(problem) in \(source)")
        }
    }

    deinit {
        elements.forEach { X509_free($0) }
    }

    /// Calls `body` with each; to keep one, take a reference.
    func forEach<Failure: Error>(_ body: (OpaquePointer) throws(Failure) -> Void) throws(Failure) {
        // To the end of the calls: without, the list could go when its elements were fetched, and they with it.
        defer { withExtendedLifetime(self) {} }
        for element in elements { try body(element) }
    }
}

extension PEMSource {
    /// Calls `body` with the text in a form that OpenSSL reads; it is valid during the call only.
    func withMemory<Result>(_ body: (OpaquePointer) -> Result) throws(WebSocketFailure) -> Result {
        var text: Data
        switch self {
        case .text(let known): text = Data(known.utf8)
        case .file(let path): text = try Self.read(path)
        }
        // Of no bytes at all OpenSSL makes nothing.
        if text.isEmpty { text = Data("\n".utf8) }
        // It keeps the address, so all of it happens while that holds.
        let result = text.withUnsafeMutableBytes { bytes -> Result? in
            defer { OPENSSL_cleanse(bytes.baseAddress, bytes.count) }
            guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(memory) }
            return body(memory)
        }
        guard let result else { throw TLSContext.unusable("No memory for \(self)") }
        return result
    }

    /// The largest size of a file of certificates: a system's authorities are a quarter of a megabyte.
    private static let largestSize = 16 << 20

    /// Without a descriptor for it the attempt may be made again; otherwise the file is to be mended. A pipe or a device isn't read: that
    /// could take for ever, on the loop's thread.
    private static func read(_ path: String) throws(WebSocketFailure) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let error = SystemError.last
        let text = "The file \(path) can't be read"
        guard descriptor >= 0 else {
            throw error.isShortage ? WebSocketFailure(.unreachable, "\(text): \(error.text)") : TLSContext.unusable(text)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= largestSize else {
            throw TLSContext.unusable("\(text): it is no file, or larger than 16 MiB")
        }
        do {
            return try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).readToEnd() ?? Data()
        } catch {
            throw TLSContext.unusable(text)
        }
    }
}
#endif
