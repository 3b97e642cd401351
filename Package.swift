// swift-tools-version:6.2
import PackageDescription

let linux: [Platform] = [.linux]

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "swift-pusher-channels",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "PusherChannels", targets: ["PusherChannels"]),
        .library(name: "TestSupport", targets: ["TestSupport"]),
        // A trait for Swift Testing, which users of XCTest don't build.
        .library(name: "TestSupportTesting", targets: ["TestSupportTesting"]),
        .executable(name: "pusher-channels", targets: ["pusher-channels-program"]),
    ],
    // A package that depends on this one fetches what its traits need: with `traits: []`, swift-log and nothing else.
    traits: [
        .trait(name: "ServiceLifecycle", description: "Pusher is a Service of swift-service-lifecycle"),
        .trait(name: "Metrics", description: "Clients are measured by swift-metrics"),
        .trait(name: "Tracing", description: "Clients and the HTTP API have spans, made by swift-distributed-tracing"),
        .trait(name: "Configuration", description: "Clients and the HTTP API are made from swift-configuration"),
        .trait(
            name: "LocalServer", description: "TestSupport has LocalServer, and pusher-channels runs, which serves one"),
        // One only: SwiftPM gives the compiler several in an order that changes, and then builds everything anew.
        .default(enabledTraits: ["LocalServer"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.11.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibwebsockets",
            pkgConfig: "libwebsockets",
            providers: [.apt(["libwebsockets-dev"])]
        ),
        .systemLibrary(
            name: "CSodium",
            pkgConfig: "libsodium",
            providers: [.apt(["libsodium-dev"])]
        ),
        // The one under libwebsockets, which the package of that brings along.
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"])]
        ),
        .target(
            name: "PusherChannels",
            dependencies: [
                .product(name: "Logging", package: "swift-log"),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
                .product(name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"])),
                .target(name: "CLibwebsockets", condition: .when(platforms: linux)),
                .target(name: "COpenSSL", condition: .when(platforms: linux)),
                .target(name: "CSodium", condition: .when(platforms: linux)),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "TestSupport",
            dependencies: [
                "PusherChannels",
                .product(name: "Logging", package: "swift-log"),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"])),
                .target(name: "COpenSSL", condition: .when(platforms: linux)),
            ],
            path: "TestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "TestSupportTesting", dependencies: ["TestSupport"], path: "TestSupportTesting", swiftSettings: settings),
        // Without its trait, the program can only say which one it needs: it has no other target then.
        .executableTarget(
            name: "pusher-channels-program",
            dependencies: [.target(name: "pusher-channels", condition: .when(traits: ["LocalServer"]))],
            path: "Sources/pusher-channels/Program",
            swiftSettings: settings
        ),
        .target(
            name: "pusher-channels",
            dependencies: [
                "PusherChannels",
                "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["LocalServer"])),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Program"],
            swiftSettings: settings
        ),
        // The program of the README's first screen.
        .executableTarget(
            name: "pusher-hello", dependencies: ["PusherChannels"], path: "Examples/Hello", swiftSettings: settings),
        .testTarget(
            name: "PusherChannelsTests",
            dependencies: ["PusherChannels", "TestSupport", "Processes", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TestSupportTests",
            dependencies: [
                "PusherChannels", "TestSupport", "TestSupportTesting", "Processes",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["__Traffic__"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "LoopbackTests",
            dependencies: [
                "PusherChannels",
                "TestSupport",
                "pusher-channels",
                "chaos",
                "Processes",
                .product(name: "Logging", package: "swift-log"),
                .target(name: "CLibwebsockets", condition: .when(platforms: linux)),
                .target(name: "COpenSSL", condition: .when(platforms: linux)),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "chaos",
            dependencies: [
                "PusherChannels",
                "TestSupport",
                "Processes",
                "pusher-channels",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["LocalServer"])),
                .target(name: "COpenSSL", condition: .when(platforms: linux)),
            ],
            path: "Tests/Chaos",
            exclude: ["World/world.c"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "PusherChannels",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["LocalServer"])),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Benchmarks/client",
            swiftSettings: settings
        ),
        // For programs that are run by tests, and those that run them.
        .target(
            name: "Processes",
            dependencies: ["PusherChannels", "TestSupport", .product(name: "Logging", package: "swift-log")],
            path: "Tests/Processes",
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
