"""Finds a platform's simulator among those that simctl lists: several, or none, may have a given name."""

import re
from typing import Any

PLATFORMS = {"iOS": "iPhone", "tvOS": "Apple TV", "watchOS": "Apple Watch", "visionOS": "Apple Vision"}
# The platforms' names in simctl's runtimes, if they differ.
RUNTIMES = {"visionOS": "xrOS"}


def version(runtime: str, platform: str) -> tuple[int, ...] | None:
    """Returns (18, 4) for com.apple.CoreSimulator.SimRuntime.iOS-18-4, and None for another platform's runtime."""
    match = re.fullmatch(rf"com\.apple\.CoreSimulator\.SimRuntime\.{RUNTIMES.get(platform, platform)}-(\d+(?:-\d+)*)", runtime)
    return tuple(map(int, match[1].split("-"))) if match else None


def choose(listing: Any, platform: str) -> str | None:
    """Returns the id of a booted device, or else of one with the newest runtime, the first by name; None if there is none."""
    found = []
    for runtime, devices in listing["devices"].items():
        number = version(runtime, platform)
        if number is None:
            continue
        for device in devices:
            if device.get("isAvailable") and device["name"].startswith(PLATFORMS.get(platform, platform)):
                found.append((device.get("state") != "Booted", [-part for part in number], device["name"], device["udid"]))
    return min(found)[3] if found else None
