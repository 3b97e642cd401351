#if LocalServer
import pusher_channels

await PusherChannelsCommand.main()
#else
import Foundation

let text = #"Error: pusher-channels needs the trait LocalServer: .package(…, traits: ["LocalServer"]) in Package.swift"#
FileHandle.standardError.write(Data((text + "\n").utf8))
exit(1)
#endif
