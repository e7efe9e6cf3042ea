"""What was fitted is copied and saved without the budget that it charged."""

from typing import Any

from dpselect.errors import BudgetError


class LeftOut:
    """The budget of a copy, which refuses whatever is asked of it."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("_") or name == "get_params":  # by which it is cloned
            raise AttributeError(name)
        raise BudgetError(
            "a copy of what was fitted has no budget: give it one by set_params(budget=...), "
            "or None"
        )

    def __repr__(self) -> str:
        return "<left out>"


class WithoutBudget:
    """An estimator with a parameter ``budget``, which its copies after a fit do not have."""

    plan_: Any

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        if state.get("budget") is not None and hasattr(self, "plan_"):
            state["budget"] = LeftOut()
        return state

    def _repr_mimebundle_(self, **formats: Any) -> dict[str, str]:  # noqa: ANN401
        bundle: dict[str, str] = super()._repr_mimebundle_(**formats)  # type: ignore[misc]
        if hasattr(self, "release_"):
            bundle["text/html"] = self.release_._repr_html_()
        return bundle
