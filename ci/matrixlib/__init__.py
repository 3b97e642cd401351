"""The cells of a Swift package, one concern per file."""

__version__ = "1.0.0"
