import Testing
@testable import PusherChannels
@Test func placeholder() {}
