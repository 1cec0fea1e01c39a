"""Where the parts meet: a function goes in, a run takes place, a result comes out."""
