"""The parts of ci/matrix, one concern per file."""
