"""What applications bring to the contracts of dpselect (``support.packages``)."""
