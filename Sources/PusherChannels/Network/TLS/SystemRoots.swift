#if canImport(COpenSSL)
import COpenSSL
import Glibc

/// The authorities that the system trusts: a file with all of them, a directory with one in each file, or both.
///
/// The paths are those that the environment had when they were first needed. Reading the environment while another thread changes
/// it is a race, and OpenSSL would read it for each connection.
enum SystemRoots {
    private static let file = path(X509_get_default_cert_file_env(), X509_get_default_cert_file())
    private static let directory = path(X509_get_default_cert_dir_env(), X509_get_default_cert_dir())

    /// The properties that reveal whether the file has changed.
    static var stamp: FileStamp? { file.flatMap { FileStamp($0) } }

    /// Adds the authorities to a store. It is no error if the system has none, but it is one if there is no descriptor to read
    /// them now, because the store is kept.
    static func add(to store: OpaquePointer) throws(TransportError) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        if let file, X509_STORE_load_locations(store, file, nil) != 1, let shortage = OpenSSLError.takeShortage() {
            throw TransportError(.unreachable, "The system's authorities (\(file)) can't be read: \(shortage.text)")
        }
        if let directory { X509_STORE_load_locations(store, nil, directory) }
    }

    private static func path(_ variable: UnsafePointer<CChar>?, _ usual: UnsafePointer<CChar>?) -> String? {
        let named: UnsafePointer<CChar>? = variable.flatMap { getenv($0) }.map { UnsafePointer($0) }
        return (named ?? usual).map { String(cString: $0) }
    }
}
#endif
