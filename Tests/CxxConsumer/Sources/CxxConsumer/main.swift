import CxxStdlib
import Greeting
import PusherChannels
import TestSupport

struct NotSubscribed: Error {}

// The channel's name comes from a C++ string; the server is in memory.
let name = String(greeting(42))
try withTestHarness { harness in
    let pusher = harness.makePusher()
    let channel = pusher.subscribe(name)
    pusher.connect()
    guard channel.subscribed else { throw NotSubscribed() }
    print("subscribed to", channel.name)
}
