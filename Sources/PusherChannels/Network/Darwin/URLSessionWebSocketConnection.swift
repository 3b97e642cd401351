#if !os(Linux)
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One attempt of a ``URLSessionWebSocket``: a session with one task, which calls back on its own serial queue.
final class URLSessionWebSocketConnection: NSObject, URLSessionWebSocketDelegate, Sendable {
    private struct State {
        var task: URLSessionWebSocketTask?
        var isOpen = false
        var isFinished = false
        var isReading = true
        var isReceiving = false

        /// Returns the task to receive from next; `nil` if there is nothing to do.
        mutating func beginReceiving() -> URLSessionWebSocketTask? {
            guard isOpen, !isFinished, isReading, !isReceiving, let task else { return nil }
            isReceiving = true
            return task
        }
    }

    private let attempt: ConnectionAttempt
    private let delegate: @Sendable () -> (any WebSocketDelegate)?
    private let state = Locked(State())

    init(attempt: ConnectionAttempt, delegate: @escaping @Sendable () -> (any WebSocketDelegate)?) {
        self.attempt = attempt
        self.delegate = delegate
    }

    // MARK: Calls from the socket

    func open(_ request: WebSocketRequest) {
        guard let url = URL(string: request.url) else {
            return end(.failed(TransportError(.unsupported, "\(request.url) is not an address")))
        }
        // Failing is better than a connection that trusts others than configured.
        guard request.tls == TLSConfiguration(), request.proxy == .environment, request.maximumRedirects == 0 else {
            let text = "TLS settings, proxies and redirects are the system's with URLSession"
            return end(.failed(TransportError(.unsupported, text)))
        }
        var upgrade = URLRequest(url: url)
        for (name, value) in request.headers { upgrade.setValue(value, forHTTPHeaderField: name) }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: queue)
        let task = session.webSocketTask(with: upgrade)
        task.maximumMessageSize = request.maximumMessageSize
        state.withLock { $0.task = task }
        task.resume()
        // The session keeps its delegate until the task is done.
        session.finishTasksAndInvalidate()
    }

    func send(_ text: String) {
        guard let task = state.withLock({ $0.isOpen && !$0.isFinished ? $0.task : nil }) else { return }
        task.send(.string(text)) { _ in }  // A failure ends the task, which is reported.
    }

    func close(code: UInt16, reason: String) {
        guard let task = state.withLock({ $0.task }) else { return }
        let code = URLSessionWebSocketTask.CloseCode(rawValue: Int(code)) ?? .normalClosure
        task.cancel(with: code, reason: Data(ClosePayload.bytes(code: 1000, reason: reason).dropFirst(2)))
    }

    func abandon() {
        state.withLock { $0.task }?.cancel()
    }

    func setReading(_ reading: Bool) {
        state.withLock { $0.isReading = reading }
        receive()
    }

    // MARK: Reports from the task

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        state.withLock { $0.isOpen = true }
        delegate()?.webSocketDidOpen(attempt: attempt)
        receive()
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        let reason = String(decoding: reason ?? Data(), as: UTF8.self)
        end(.closed(code: UInt16(exactly: closeCode.rawValue) ?? 1005, reason: reason))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(.failed(Self.failure(of: error, response: task.response)))
    }

    private func receive() {
        guard let task = state.withLock({ $0.beginReceiving() }) else { return }
        task.receive { [self] result in
            state.withLock { $0.isReceiving = false }
            guard case .success(let message) = result else { return }  // The task's end follows and is reported.
            report(message)
            receive()
        }
    }

    private func report(_ message: URLSessionWebSocketTask.Message) {
        switch message {
        case .string(let text):
            MessageBatch.withText(text) { delegate()?.webSocketDidReceive($0, attempt: attempt) }
        case .data(let data):
            data.withUnsafeBytes { bytes in
                withUnsafePointer(to: (MessageBatch.Kind.binary, bytes)) { message in
                    let batch = MessageBatch(UnsafeBufferPointer(start: message, count: 1))
                    delegate()?.webSocketDidReceive(batch, attempt: attempt)
                }
            }
        @unknown default:
            break
        }
    }

    /// Reports the end, once.
    private func end(_ closure: WebSocketClosure) {
        let isFirst = state.withLock { state in
            defer { state.isFinished = true }
            return !state.isFinished
        }
        if isFirst { delegate()?.webSocketDidClose(closure, attempt: attempt) }
    }

    private static func failure(of error: (any Error)?, response: URLResponse?) -> TransportError {
        guard let error = error as? URLError else {
            return TransportError(.connectionLost, error.map { "\($0)" } ?? "the connection ended without a close frame")
        }
        let kind: TransportError.Kind =
            switch error.code {
            case .cannotFindHost, .dnsLookupFailed: .hostNotFound
            case .cannotConnectToHost: .connectionRefused
            case .timedOut: .noAnswer
            case .serverCertificateHasBadDate: .tlsFailed(.certificateExpired)
            case .serverCertificateNotYetValid: .tlsFailed(.certificateNotYetValid)
            case .serverCertificateHasUnknownRoot: .tlsFailed(.untrustedAuthority)
            case .serverCertificateUntrusted: .tlsFailed(.certificateRejected)
            case .clientCertificateRequired: .tlsFailed(.clientCertificateRequired)
            case .clientCertificateRejected: .tlsFailed(.clientCertificateRefused)
            case .secureConnectionFailed: .tlsFailed(.handshakeFailed)
            case .badServerResponse: .upgradeRefused(status: (response as? HTTPURLResponse)?.statusCode ?? 0)
            case .cancelled: .cancelled
            default: .connectionLost
            }
        return TransportError(kind, error.localizedDescription)
    }
}
#endif
