"""A. The lookup: from a dictionary that matches or does not to one that blends."""
