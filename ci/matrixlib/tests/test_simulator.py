"""Tests which simulator is found, from recorded output of simctl."""

import json
import unittest

from support import PACKAGE
from matrixlib.requirements import choose

LISTING = PACKAGE / "tests/simctl.json"
# The devices of the hosted images, by runtime, as their own lists name them; ids are made up.
IMAGES = json.loads((PACKAGE / "tests/simulators.json").read_text())
ID = "AAAAAAAA-0000-0000-0000-00000000000{}"


class SimulatorCase(unittest.TestCase):
    def test_of_the_newest_runtime_by_number_and_not_by_letters_one_that_is_available(self):
        self.assertEqual(choose(json.loads(LISTING.read_text()), "iOS"), ID.format(4))

    def test_one_that_is_booted_already(self):
        self.assertEqual(choose(json.loads(LISTING.read_text()), "watchOS"), ID.format(8))

    def test_visions_runtime_has_another_name(self):
        self.assertEqual(choose(json.loads(LISTING.read_text()), "visionOS"), ID.format(9))

    def test_without_one_it_is_none_and_no_other(self):
        self.assertIsNone(choose(json.loads(LISTING.read_text()), "tvOS"))

    def test_each_hosted_image_has_one_of_its_newest_runtime_for_each_platform(self):
        expected = {
            "macos-15": {"iOS": "iOS-26-2 iPhone 16", "tvOS": "tvOS-26-2 Apple TV", "watchOS": "watchOS-26-2 Apple Watch SE (40mm) (2nd generation)",
                         "visionOS": "xrOS-26-2 Apple Vision Pro"},
            "macos-26": {"iOS": "iOS-26-5 iPhone 17", "tvOS": "tvOS-26-5 Apple TV", "watchOS": "watchOS-26-5 Apple Watch SE 3 (40mm)",
                         "visionOS": "xrOS-26-5 Apple Vision Pro"},
        }
        for image, devices in expected.items():
            listing = {"devices": {f"com.apple.CoreSimulator.SimRuntime.{runtime}": [
                {"udid": f"{runtime} {name}", "name": name, "state": "Shutdown", "isAvailable": True} for name in names]
                for runtime, names in IMAGES[image].items()}}
            for platform, device in devices.items():
                with self.subTest(image=image, platform=platform):
                    self.assertEqual(choose(listing, platform), device)
