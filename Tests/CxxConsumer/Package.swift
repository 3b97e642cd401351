// swift-tools-version:6.2
import PackageDescription

// A program of a user who mixes Swift and C++: what it imports is compiled with interoperability, too.
let package = Package(
    name: "CxxConsumer",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "swift-pusher-channels", path: "../..")],
    targets: [
        .target(name: "Greeting"),
        .executableTarget(
            name: "CxxConsumer",
            dependencies: [
                "Greeting",
                .product(name: "PusherChannels", package: "swift-pusher-channels"),
                .product(name: "TestSupport", package: "swift-pusher-channels"),
            ],
            swiftSettings: [.interoperabilityMode(.Cxx)]
        ),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
