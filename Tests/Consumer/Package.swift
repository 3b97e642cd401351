// swift-tools-version:6.2
import PackageDescription

// The package of a user who has a target called TestSupport: the SDK's gets another name, and both are used side by side.
func product(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-pusher-channels", moduleAliases: ["TestSupport": "PusherTestSupport"])
}
let testSupport = product("TestSupport")

let package = Package(
    name: "Consumer",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(path: "../../.build/by-name/swift-pusher-channels"),
        .package(url: "https://github.com/apple/swift-log", from: "1.11.0"),
    ],
    targets: [
        .target(name: "TestSupport"),
        .testTarget(name: "MisuseTests", dependencies: ["TestSupport", testSupport]),
        .testTarget(name: "WrapperTests", dependencies: [testSupport], swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "AppTests",
            dependencies: [testSupport, product("TestSupportTesting"), .product(name: "Logging", package: "swift-log")]),
    ],
    swiftLanguageModes: [.v6]
)
