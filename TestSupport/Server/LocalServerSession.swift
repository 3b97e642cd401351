#if LocalServer
import FlyingFox
import Foundation
import PusherChannels

/// One WebSocket of a ``LocalServer``: FlyingFox's frames on one side, the server's machine on the other.
struct LocalServerSession: WSHandler {
    let core: LocalServerCore
    /// The upgrade request's path and query.
    let path: String

    func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
        let (frames, output) = AsyncStream.makeStream(of: WSFrame.self, bufferingPolicy: core.bufferingPolicy)
        let closeTimer = CloseTimer(core.closeTimeout)
        let id = core.open(path: path, output: output, closeTimer: closeTimer)
        let reader = SocketPoolSettings.$closeTimer.withValue(closeTimer) {
            Task {
                let reply = await MessageAssembler.read(
                    client, limit: core.largestBody, receive: { core.receive($0, from: id) }, send: { core.send($0, to: id) })
                core.end(id, saying: reply)
            }
        }
        // Writing failed, or the server is stopped.
        output.onTermination = { _ in reader.cancel() }
        core.setReader(reader, of: id)
        return AsyncStream {
            if let frame = await closeTimer.next(of: frames) { return frame }
            // Everything is written. When this closure returns, the connection is closed.
            await core.awaitEnd(of: client)
            return nil
        }
    }
}
#endif
