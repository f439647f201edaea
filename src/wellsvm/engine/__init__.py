"""Algorithm 1: starts, the cutting plane, the search for one labelling, and the recipe that joins them."""
