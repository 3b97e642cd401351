/// Where certificates or a private key come from, in PEM form. Neither its description nor its mirror shows the text.
public enum PEMSource: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// A file, which is read again when it has changed: the next connection uses what it holds then.
    case file(String)
    /// The text itself.
    case text(String)

    /// The file's path, or that it is text.
    public var description: String {
        switch self {
        case .file(let path): path
        case .text: "PEM text"
        }
    }

    /// The file's path at most.
    public var customMirror: Mirror { Mirror(self, children: ["source": description]) }
}
