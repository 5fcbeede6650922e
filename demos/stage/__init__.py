"""The stage: what the demos stand on, from the command line to the page."""
