"""The engine of stet: usable headless; knows neither Textual nor Rich."""
