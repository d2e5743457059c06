"""A run as text that is safe to show, whatever shows it: a terminal, a file, a page."""
