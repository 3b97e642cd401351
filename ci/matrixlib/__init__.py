"""The parts of ci/matrix, one concern a file."""
