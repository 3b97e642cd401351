#if ServiceLifecycle
import ServiceLifecycle

/// With the trait `ServiceLifecycle`, a pool is a service: ``PusherPool/run()`` ends as ``PusherPool/shutdown(within:)`` does it,
/// when its group is asked to shut down.
extension PusherPool: Service {}
#endif
