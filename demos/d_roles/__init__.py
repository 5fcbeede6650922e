"""D. Roles and limits: queries, keys and values apart, and what lookups cost."""
