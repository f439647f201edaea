"""Algorithm 1 and what stands around it: starts, the cutting plane, the search, and the recipe that joins them."""
