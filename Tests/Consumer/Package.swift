// swift-tools-version:6.2
import PackageDescription

// A program of a user who has a target called TestSupport: the SDK's gets another name, and both are used side by side.
let testSupport: Target.Dependency = .product(
    name: "TestSupport", package: "swift-pusher-channels", moduleAliases: ["TestSupport": "PusherTestSupport"])

let package = Package(
    name: "Consumer",
    platforms: [.macOS(.v13)],
    dependencies: [.package(path: "../../.build/by-name/swift-pusher-channels")],
    targets: [
        .target(name: "TestSupport"),
        .testTarget(name: "MisuseTests", dependencies: ["TestSupport", testSupport]),
        .testTarget(name: "AppTests", dependencies: [testSupport]),
    ],
    swiftLanguageModes: [.v6]
)
