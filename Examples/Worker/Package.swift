// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "Worker",
    platforms: [.macOS(.v15)],
    dependencies: [
        // In a package of your own:
        // .package(url: "https://github.com/swift-pusher-channels/swift-pusher-channels", …,
        //     traits: ["ServiceLifecycle", "Configuration"])
        .package(name: "swift-pusher-channels", path: "../..", traits: ["ServiceLifecycle", "Configuration"]),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.11.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "worker",
            dependencies: [
                .product(name: "PusherChannels", package: "swift-pusher-channels"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
