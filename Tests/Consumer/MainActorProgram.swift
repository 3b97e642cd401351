// A class on the main actor that is notified there. It needs no FoundationNetworking.
import Foundation
import PusherChannels

@MainActor
final class RoomView {
    private let pusher = Pusher(key: "key", options: PusherClientOptions(delivery: .queue(.main)))
    private var lines: [String] = []

    func appear() {
        pusher.mainActorDelegate = self
        pusher.connect()
    }
}

extension RoomView: MainActorPusherDelegate {
    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        lines.append(new.stringValue())
    }

    func failedToSubscribeToChannel(name: String, error: PusherError) {
        lines.append("\(name): \(error)")
    }
}

/// A class that keeps the conformance of an older program: a call on another thread stops it.
@MainActor
final class OldRoomView {
    private let pusher = Pusher(key: "key", options: PusherClientOptions(delivery: .queue(.main)))
    private var lines: [String] = []

    func appear() {
        pusher.delegate = self
    }
}

extension OldRoomView: @preconcurrency PusherDelegate {
    func subscribedToChannel(name: String) {
        lines.append(name)
    }
}
