#if canImport(COpenSSL)

/// The contexts in use, so that connections of one configuration share theirs. Confined to the thread of its loop.
final class TLSContexts {
    private var contexts = RecentlyUsed<TLSConfiguration, TLSContext>()
    /// Apart: to read the system's authorities takes longer than all the rest, and most configurations name them.
    private var stores = RecentlyUsed<TLSConfiguration.Roots, CertificateStore>()

    /// The context of a configuration; made anew when one of its files has changed.
    func context(for configuration: TLSConfiguration) throws(WebSocketFailure) -> TLSContext {
        try contexts.value(for: configuration, stamps: configuration.stamps) { () throws(WebSocketFailure) in
            let roots = configuration.roots
            let store = try stores.value(for: roots, stamps: roots.stamps) { () throws(WebSocketFailure) in
                try CertificateStore(roots)
            }
            return try TLSContext(configuration, trusting: store)
        }
    }
}

/// Values made of files, as long as these stay the same and not too many others were wanted since.
private struct RecentlyUsed<Key: Equatable, Value> {
    private struct Entry {
        let key: Key
        let stamps: [FileStamp?]
        let value: Value
    }

    /// A program has a few configurations, not one for each connection.
    private static var limit: Int { 16 }
    /// The latest last.
    private var entries: [Entry] = []

    mutating func value(
        for key: Key, stamps: [FileStamp?], make: () throws(WebSocketFailure) -> Value
    ) throws(WebSocketFailure) -> Value {
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
