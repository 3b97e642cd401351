/// Something that the user's own test support has.
public enum Fixtures {
    /// A channel of his app.
    public static let channel = "orders"
}
