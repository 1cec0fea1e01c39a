"""The Hops Python library's names, on Hopyard: old programs run as they are.

Everything here is translation. What the functions do, and their newer and fuller forms, is in `hopyard`;
``docs/migrating-from-hops.md`` puts the two side by side.
"""
