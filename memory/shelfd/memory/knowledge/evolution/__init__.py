"""Whether a new note updates, corrects, repeats, contradicts or merely adds to older ones, without a model."""
