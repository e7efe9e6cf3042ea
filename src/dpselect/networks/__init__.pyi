from dpselect_applications import (
    Hubs as Hubs,
)

from .betweenness import (
    ego_betweenness as ego_betweenness,
)
from .density import (
    ego_density as ego_density,
)
from .edge_table import (
    EdgeTable as EdgeTable,
)
from .graph import (
    CommonNeighbours as CommonNeighbours,
    Graph as Graph,
    NodeCounts as NodeCounts,
)
from .metrics import (
    METRICS as METRICS,
    Metric as Metric,
    degree as degree,
)
from .top import (
    TopNodes as TopNodes,
)
