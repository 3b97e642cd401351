/// A value as reports show it: what its name says to be secret is left out.
func shown(_ value: String, as name: String) -> String {
    let name = name.lowercased()
    let isSecret = ["auth", "secret", "token", "password", "cookie", "signature"].contains { name.contains($0) }
    return isSecret ? "<redacted>" : value
}
