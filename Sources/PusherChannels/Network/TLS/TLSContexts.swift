#if canImport(COpenSSL)

/// The contexts in use, shared by the connections of one configuration. Confined to the thread of its loop.
final class TLSContexts {
    private var contexts = RecentlyUsed<TLSConfiguration, TLSContext>()
    /// Kept separately: reading the system's authorities takes longer than everything else, and most configurations use them.
    private var stores = RecentlyUsed<TLSConfiguration.Roots, CertificateStore>()

    /// Returns the context of a configuration, which is made anew if one of its files has changed.
    func context(for configuration: TLSConfiguration) throws(TransportError) -> TLSContext {
        try contexts.value(for: configuration, stamps: configuration.stamps) { () throws(TransportError) in
            let roots = configuration.roots
            let store = try stores.value(for: roots, stamps: roots.stamps) { () throws(TransportError) in
                try CertificateStore(roots)
            }
            return try TLSContext(configuration, trusting: store)
        }
    }
}

/// Values made from files, kept until a file changes or too many other values have been used since.
private struct RecentlyUsed<Key: Equatable, Value> {
    private struct Entry {
        let key: Key
        let stamps: [FileStamp?]
        let value: Value
    }

    /// The number of values to keep. A program has a few configurations, not one for each connection.
    private static var limit: Int { 16 }
    /// The entries, with the most recently used one last.
    private var entries: [Entry] = []

    mutating func value(
        for key: Key, stamps: [FileStamp?], make: () throws(TransportError) -> Value
    ) throws(TransportError) -> Value {
        let known = entries.firstIndex { $0.key == key }.map { entries.remove(at: $0) }
        if let known, known.stamps == stamps {
            entries.append(known)
            return known.value
        }
        let value = try make()
        entries.append(Entry(key: key, stamps: stamps, value: value))
        if entries.count > Self.limit { entries.removeFirst() }
        return value
    }
}
#endif
