#if canImport(COpenSSL)

/// The contexts in use, so that connections of one configuration share theirs. Confined to the thread of its loop.
final class TLSContexts {
    private struct Entry {
        let context: TLSContext
        let stamps: [FileStamp?]
    }

    /// A program has a few configurations, not one for each connection; one that has gets them made anew.
    private static let limit = 8
    /// The latest last.
    private var entries: [Entry] = []

    /// The context of a configuration; made anew when one of its files has changed.
    func context(for configuration: TLSConfiguration) throws(WebSocketFailure) -> TLSContext {
        let stamps = configuration.sources.map(\.stamp)
        let index = entries.firstIndex { $0.context.configuration == configuration }
        let known = index.map { entries.remove(at: $0) }
        if let known, known.stamps == stamps {
            entries.append(known)
            return known.context
        }
        let context = try TLSContext(configuration)
        entries.append(Entry(context: context, stamps: stamps))
        if entries.count > Self.limit { entries.removeFirst() }
        return context
    }
}

extension TLSConfiguration {
    fileprivate var sources: [PEMSource] {
        var sources: [PEMSource] = []
        switch roots {
        case .system: break
        case .only(let source), .systemAnd(let source): sources.append(source)
        }
        if let identity { sources += [identity.certificateChain, identity.privateKey] }
        return sources
    }
}
#endif
