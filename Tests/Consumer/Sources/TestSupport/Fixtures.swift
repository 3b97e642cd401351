/// Something that the user's own test support has.
public enum Fixtures {
    public static let channel = "orders"
}
