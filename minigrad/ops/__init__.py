"""The catalogue of ops, each with its gradient above it.

In the order of minigrad/__init__.py; each file uses only those before it.
"""
