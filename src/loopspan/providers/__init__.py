"""Provider adapters: pure, one wire format each, in both directions."""
