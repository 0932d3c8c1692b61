"""Compares runs: what became slower or faster, as far as their noise lets anybody tell."""
