"""What tracing costs, as ratios against the same work by hand, in one process run."""
