// swift-tools-version:6.2
import PackageDescription

// The package of a user who enables every trait of the SDK.
let package = Package(
    name: "Traits",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(
            path: "../../.build/by-name/swift-pusher-channels",
            traits: [.defaults, "ServiceLifecycle", "Metrics", "Tracing", "Configuration"]),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "service",
            dependencies: [
                .product(name: "PusherChannels", package: "swift-pusher-channels"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(
            name: "TraitTests",
            dependencies: [
                "service",
                .product(name: "PusherChannels", package: "swift-pusher-channels"),
                .product(name: "TestSupport", package: "swift-pusher-channels"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
