// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "Daemon",
    platforms: [.macOS(.v13)],
    dependencies: [
        // In a package of your own:
        // .package(url: "https://github.com/swift-pusher-channels/swift-pusher-channels", …, traits: ["ServiceLifecycle"])
        .package(name: "swift-pusher-channels", path: "../..", traits: ["ServiceLifecycle"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.11.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "daemon",
            dependencies: [
                .product(name: "PusherChannels", package: "swift-pusher-channels"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
