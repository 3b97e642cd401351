import ArgumentParser

/// A host and a port, written `host:port`, with brackets around an IPv6 address.
struct Endpoint: ExpressibleByArgument {
    let host: String
    let port: Int

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":"), let port = Int(argument[argument.index(after: colon)...]),
            (1...65535).contains(port), colon > argument.startIndex
        else { return nil }
        let name = argument[..<colon]
        let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
        self.init(host: String(isBracketed ? name.dropFirst().dropLast() : name), port: port)
    }
}
