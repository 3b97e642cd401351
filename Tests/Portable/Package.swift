// swift-tools-version:6.2
import PackageDescription

// The layers that need only the standard library, for platforms that don't have libwebsockets yet.
let package = Package(
    name: "Portable",
    products: [.library(name: "Portable", targets: ["Portable"])],
    targets: [
        .target(
            name: "Portable",
            swiftSettings: [.enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility")])
    ],
    swiftLanguageModes: [.v6]
)
