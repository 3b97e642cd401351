/// A part of the user's own test support.
public enum Fixtures {
    /// A channel of the user's app.
    public static let channel = "orders"
}
