"""The dashboards and alert rules, made from the names that loopspan's metrics and spans have."""
