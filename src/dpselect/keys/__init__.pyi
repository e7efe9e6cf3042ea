from .keys import (
    Keys as Keys,
)
from .release import (
    Chances as Chances,
    KeyRelease as KeyRelease,
)
from .top import (
    TopKeys as TopKeys,
)
