// What a test needs of the SDK comes with its test doubles.
@_exported import PusherChannels
