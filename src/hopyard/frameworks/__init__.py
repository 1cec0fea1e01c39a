"""What Hopyard does for a framework. Each is known to one module of its name; `registry` lists them."""
