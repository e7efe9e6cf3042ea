from .accountant import (
    Budget as Budget,
)
from .entry import (
    Entry as Entry,
)
from .totals import (
    Period as Period,
    Persons as Persons,
)
