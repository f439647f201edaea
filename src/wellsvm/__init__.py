"""Large-margin learning from weak labels."""
