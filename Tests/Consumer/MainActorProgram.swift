// A class that lives on the main actor and hears what happens there. It needs no FoundationNetworking.
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

/// The conformance of a program that keeps its delegate: a call on another thread stops it.
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
