"""Sessions on disk: where their records lie, and how one is taken up again. It knows neither models nor screens."""
