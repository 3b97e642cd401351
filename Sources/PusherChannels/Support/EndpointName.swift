/// `host:port`, with brackets around an IPv6 address.
func endpointName(host: String, port: Int) -> String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
}
