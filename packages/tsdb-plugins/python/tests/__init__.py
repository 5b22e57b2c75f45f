"""Tests of the worker that need no server."""
