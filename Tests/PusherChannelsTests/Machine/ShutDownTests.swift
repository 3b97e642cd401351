import Testing

@testable import PusherChannels

/// A client's final shutdown in every phase: nothing connects it again.
@Suite struct ShutDownTests {
    private static func opening() -> Transcript {
        var transcript = Transcript()
        transcript.play(.connect)
        return transcript
    }

    private static func waiting() -> Transcript {
        var transcript = Transcript.connected { $0.reconnectPolicy.initialDelay = .seconds(5) }
        transcript.close(4100)
        return transcript
    }

    private static func closing() -> Transcript {
        var transcript = Transcript.connected()
        transcript.play(.disconnect)
        return transcript
    }

    private static func reopening() -> Transcript {
        var transcript = closing()
        transcript.play(.connect)
        return transcript
    }

    private func isFinal(_ transcript: Transcript) -> Bool {
        var transcript = transcript
        guard transcript.machine.state == .disconnected, transcript.machine.nextDeadline == nil else { return false }
        let outputs = transcript.play(.connect)
        transcript.play(.networkChanged)
        return outputs.count == 1 && outputs.opened.isEmpty && transcript.machine.state == .disconnected
    }

    @Test func `A shutdown before the first connection is final, and a second one does nothing`() {
        var transcript = Transcript()
        #expect(transcript.play(.shutDown).isEmpty)
        #expect(transcript.play(.shutDown).isEmpty)
        #expect(isFinal(transcript))
    }

    @Test func `A shutdown while waiting to reconnect disconnects the client at once and for good`() {
        var transcript = Self.waiting()
        #expect(transcript.play(.shutDown) == [.deliver(.stateChanged(from: .reconnecting, to: .disconnected))])
        #expect(isFinal(transcript))
    }

    @Test(arguments: [opening(), Transcript.connected(), closing(), reopening()])
    func `A shutdown closes the socket in any phase, and the client stays disconnected`(transcript: Transcript) {
        var transcript = transcript
        transcript.play(.shutDown)
        #expect(transcript.machine.state == .disconnecting)
        transcript.play(.connect)
        transcript.play(.disconnect)
        transcript.close(1000)
        #expect(isFinal(transcript))
    }

    @Test func `A shutdown ends at its deadline if the server doesn't close the socket`() {
        var transcript = Transcript.connected()
        transcript.play(.shutDown)
        transcript.passToDeadline()
        #expect(isFinal(transcript))
    }

    @Test func `A sign-in that is pending at the shutdown, or requested after it, fails`() {
        var transcript = Transcript()
        transcript.play(.signIn)
        let failures = transcript.play(.shutDown).compactMap { output in
            if case .deliver(.signInFailed(let error)) = output { error } else { nil }
        }
        #expect(failures.map(\.message) == ["the client was shut down"])
        #expect(transcript.play(.signIn).deliveries.count == 1, "nor does anybody wait later")
    }
}
