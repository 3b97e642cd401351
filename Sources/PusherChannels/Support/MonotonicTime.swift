/// Monotonic time: how long ago some fixed origin was. Only differences mean anything.
public typealias MonotonicTime = Duration
