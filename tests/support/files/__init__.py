"""Traces and files made for tests, and readers of what rlscope writes."""
