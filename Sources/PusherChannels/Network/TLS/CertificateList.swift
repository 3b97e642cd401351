#if canImport(COpenSSL)
import COpenSSL
import Foundation
import Glibc

/// The certificates of a PEM text, in their order.
final class CertificateList {
    private let elements: [OpaquePointer]

    init(_ source: PEMSource) throws(TransportError) {
        elements = try source.withMemory { memory in
            var certificates: [OpaquePointer] = []
            // The callback gives no pass phrase, so an encrypted certificate counts as damaged. Without it, OpenSSL would prompt
            // on the terminal.
            while let certificate = PEM_read_bio_X509(memory, nil, { _, _, _, _ in 0 }, nil) { certificates.append(certificate) }
            return certificates
        }
        // At the end of the text, OpenSSL reports that no further certificate starts.
        let isDamaged = OpenSSLError.take() != OpenSSLError(library: ERR_LIB_PEM, reason: PEM_R_NO_START_LINE)
        guard !elements.isEmpty, !isDamaged else {
            let problem = isDamaged ? "A certificate is damaged" : "There is no certificate"
            throw TLSContext.unusable("\(problem) in \(source)")
        }
    }

    deinit {
        elements.forEach { X509_free($0) }
    }

    /// Calls `body` with each certificate. To keep one, take a reference to it.
    func forEach<Failure: Error>(_ body: (OpaquePointer) throws(Failure) -> Void) throws(Failure) {
        // Keeps the list alive until the calls have ended. Otherwise it could be released, and the certificates with it, once the
        // elements were fetched.
        defer { withExtendedLifetime(self) {} }
        for element in elements { try body(element) }
    }
}

extension PEMSource {
    /// Calls `body` with the text in a form that OpenSSL reads, valid only during the call.
    func withMemory<Result>(_ body: (OpaquePointer) -> Result) throws(TransportError) -> Result {
        var text: Data
        switch self {
        case .text(let known): text = Data(known.utf8)
        case .file(let path): text = try Self.read(path)
        }
        // OpenSSL can't make a memory BIO of no bytes at all.
        if text.isEmpty { text = Data("\n".utf8) }
        // OpenSSL keeps the address, so everything happens while it is valid.
        let result = text.withUnsafeMutableBytes { bytes -> Result? in
            defer { OPENSSL_cleanse(bytes.baseAddress, bytes.count) }
            guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(memory) }
            return body(memory)
        }
        guard let result else { throw TLSContext.unusable("No memory for \(self)") }
        return result
    }

    /// The largest size of a certificate file. A system's file of authorities has a quarter of a megabyte.
    private static let largestSize = 16 << 20

    /// Reads a PEM file.
    ///
    /// If no descriptor is free, the attempt may be repeated; any other failure means that the file must be fixed. A pipe or a
    /// device isn't read, because that could block the loop's thread forever.
    private static func read(_ path: String) throws(TransportError) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let error = SystemError.last
        let text = "The file \(path) can't be read"
        guard descriptor >= 0 else {
            throw error.isShortage ? TransportError(.unreachable, "\(text): \(error.text)") : TLSContext.unusable(text)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= largestSize else {
            throw TLSContext.unusable("\(text): it isn't a file, or is larger than 16 MiB")
        }
        do {
            return try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).readToEnd() ?? Data()
        } catch {
            throw TLSContext.unusable(text)
        }
    }
}
#endif
