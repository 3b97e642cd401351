extension Duration {
    /// A time that somebody may wait: what is negative is none, and a century is as good as for ever. It can be doubled thirty times.
    var asWait: Duration { min(max(self, .zero), .seconds(3_155_760_000)) }
}
