"""Studies: accuracies behind the defaults and beside the rivals, one journal each. ``make study STUDIES=text``."""
