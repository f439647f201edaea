"""scikit-learn estimators: validate, choose parts, call the engine, store."""
