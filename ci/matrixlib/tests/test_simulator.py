"""Tests which simulator is found, from recorded output of simctl."""

import json
import unittest

from support import PACKAGE
from matrixlib.requirements import PLATFORMS, available

LISTING = PACKAGE / "tests/simctl.json"
# The devices of the hosted images, by runtime, as their own lists name them; ids are made up.
IMAGES = json.loads((PACKAGE / "tests/simulators.json").read_text())


class SimulatorCase(unittest.TestCase):
    def test_one_that_can_be_used(self):
        listing = json.loads(LISTING.read_text())
        self.assertEqual([available(listing, platform) for platform in PLATFORMS], [True, False, True, True], "visionOS's runtime has another name")
        for devices in listing["devices"].values():
            for device in devices:
                device["isAvailable"] = False
        self.assertFalse(any(available(listing, platform) for platform in PLATFORMS))

    def test_each_hosted_image_has_one_for_each_platform(self):
        for image in ("macos-15", "macos-26"):
            listing = {"devices": {f"com.apple.CoreSimulator.SimRuntime.{runtime}": [
                {"udid": f"{runtime} {name}", "name": name, "state": "Shutdown", "isAvailable": True} for name in names]
                for runtime, names in IMAGES[image].items()}}
            for platform in PLATFORMS:
                with self.subTest(image=image, platform=platform):
                    self.assertTrue(available(listing, platform))
