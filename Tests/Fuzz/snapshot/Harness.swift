/// There is no harness here that would ask a recorder for its findings.
extension TrafficRecorder {
    func find(_ finding: Finding) {}
}
