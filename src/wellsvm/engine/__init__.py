"""Algorithm 1: starts, the cutting plane, the search for one labeling, and the recipe that joins them."""
