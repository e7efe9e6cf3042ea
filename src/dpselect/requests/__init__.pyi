from .fields import (
    schema as schema,
)
from .policy import (
    Policy as Policy,
)
from .request import (
    Request as Request,
)
