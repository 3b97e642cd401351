extension Duration {
    /// Seconds as applications give them: nil, what is no number, and what no timer can be set to become a day; what is negative,
    /// nothing.
    init(unlimited seconds: Double?) {
        let day = 86_400.0
        self = .seconds(min(max(seconds.flatMap { $0.isNaN ? nil : $0 } ?? day, 0), day))
    }
}
