"""The version of this release; pyproject.toml states the same."""

__version__ = "0.1.0"
