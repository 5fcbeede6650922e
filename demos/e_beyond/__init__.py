"""E. Beyond the chapter: results since 2017."""
