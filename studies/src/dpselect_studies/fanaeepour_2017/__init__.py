"""E2EPriv: Fanaeepour and Rubinstein, arXiv:1702.05607."""
