#if ServiceLifecycle
import ServiceLifecycle

/// With the trait `ServiceLifecycle` a pool is a service: ``PusherPool/run()`` ends as ``PusherPool/shutdown(within:)`` does it, when the group
/// that it runs in is asked to shut down.
extension PusherPool: Service {}
#endif
