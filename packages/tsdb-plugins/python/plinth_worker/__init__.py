"""Runs plugins for the server; standard library only."""
