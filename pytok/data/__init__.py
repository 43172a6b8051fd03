"""Tables: what is known about models, pre-tokenizers, token texts and Unicode."""
