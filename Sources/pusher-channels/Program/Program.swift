#if LocalServer
import pusher_channels

@main enum Program {
    static func main() async {
        // Before anything is awaited: that opens files for timers and events.
        PusherChannelsCommand.haveStandardDescriptors()
        await PusherChannelsCommand.main()
    }
}
#else
import Foundation

@main enum Program {
    static func main() {
        let text = #"Error: pusher-channels needs the trait LocalServer: .package(…, traits: ["LocalServer"]) in Package.swift"#
        FileHandle.standardError.write(Data((text + "\n").utf8))
        exit(1)
    }
}
#endif
