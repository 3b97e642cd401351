// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "WebService",
    platforms: [.macOS(.v15)],
    dependencies: [
        // In a package of your own:
        // .package(url: "https://github.com/swift-pusher-channels/swift-pusher-channels", …,
        //     traits: ["ServiceLifecycle", "Configuration"])
        .package(name: "swift-pusher-channels", path: "../..", traits: ["ServiceLifecycle", "Configuration"]),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.11.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "web-service",
            dependencies: [
                "Shop",
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "PusherChannels", package: "swift-pusher-channels"),
            ]
        ),
        .executableTarget(
            name: "listener",
            dependencies: [
                "Shop",
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "PusherChannels", package: "swift-pusher-channels"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .target(name: "Shop", dependencies: [.product(name: "PusherChannels", package: "swift-pusher-channels")]),
    ],
    swiftLanguageModes: [.v6]
)
