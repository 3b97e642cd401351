import Foundation

/// Does work and shows progress meanwhile: a line of a terminal's standard error that is overwritten every second and erased at
/// the end. Nothing is shown elsewhere.
func showingProgress<Result>(
    _ line: @escaping @Sendable () -> String, while work: () async throws -> Result
) async rethrows -> Result {
    guard TerminalTraits.errors.canErase else { return try await work() }
    let ticker = Task {
        while !Task.isCancelled {
            erasable("\r\u{1B}[K" + line())
            try? await Task.sleep(for: .seconds(1))
        }
        erasable("\r\u{1B}[K")
    }
    do {
        let result = try await work()
        ticker.cancel()
        await ticker.value
        return result
    } catch {
        ticker.cancel()
        await ticker.value
        throw error
    }
}
