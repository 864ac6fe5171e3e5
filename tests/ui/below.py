"""What the modules below the page tell people, read from their source: templates with ``{}``.

What is raised, recorded or noted is followed to the strings that it is made of: through names,
branches, sums, dictionaries, parameters, and functions of the same module. What is asked of another
module, or of a library, is not seen.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2] / "playground"
# What tells somebody something, and the argument that does: by its name, or by its place.
TELLS = {
    "SettingsError": ("", 0),
    "ResumeError": ("", 0),
    "Unreachable": ("", 0),
    "_BadCell": ("", 0),
    "Message": ("text", None),
    "Status": ("error", None),
    "Skipped": ("reason", None),
    "HowItRuns": ("reason", 2),
    "BackendChoice": ("reason", 2),
    "Stage": ("name", None),
    "Device": ("reason", None),
    "Verdict": ("", 3),
    "_cpu": ("", 0),
    "say": ("", 0),
}
_MAKES_NOTHING = {"str", "repr", "len", "sorted", "format", "type", "int"}


def templates(path: Path) -> set[str]:
    """Of one module, with ``{}`` for each value."""
    # What pydantic is raised is told; elsewhere a ValueError is of who calls, not of who asks.
    more = {"ValueError": ("", 0)} if path.parent.name == "config" else {}
    return _Module(ast.parse(path.read_text(encoding="utf-8")), TELLS | more).told


class _Module:
    def __init__(self, tree: ast.Module, tells: Mapping[str, tuple[str, int | None]]) -> None:
        self.tree = tree
        self._tells = tells
        self.told: set[str] = set()
        self._seen: set[ast.AST] = set()
        self._within: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self._within[child] = node
        self._functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        self._calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
        for call in self._calls:
            for told in self._telling(call):
                self._follow(told)
        for function in self._functions.values():
            if re.search(r"\bstr\b", ast.unparse(function.returns or ast.Constant(None))):
                for node in ast.walk(function):
                    if isinstance(node, ast.Return) and self._around(node) is function:
                        self._follow(node.value)

    def _telling(self, call: ast.Call) -> Iterator[ast.expr]:
        name = _name(call.func)
        keyword, place = self._tells.get(name, ("", None))
        yield from (k.value for k in call.keywords if keyword and k.arg in (keyword, "detail"))
        if place is not None and len(call.args) > place:
            yield call.args[place]
        notes = name == "append" and "note" in ast.unparse(call.func)
        if call.args and (notes or name in ("said", "_said")):
            yield call.args[0]

    def _follow(self, node: ast.AST | None) -> None:
        """Everything that ``node`` may be made of."""
        if node is None or node in self._seen:
            return
        self._seen.add(node)
        self.told |= {t for t in _written(node) if re.search("[a-z]{2}", t.replace("{}", ""))}
        for part in self._parts(node):
            self._follow(part)

    def _parts(self, node: ast.AST) -> Iterator[ast.AST | None]:
        if isinstance(node, ast.JoinedStr):
            yield from (v.value for v in node.values if isinstance(v, ast.FormattedValue))
        elif isinstance(node, ast.IfExp):
            yield from (node.body, node.orelse)
        elif isinstance(node, ast.BoolOp | ast.Tuple | ast.List):
            yield from getattr(node, "values", None) or node.elts
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            if not _written(node):
                yield from (node.left, node.right)
            else:
                yield from (v for side in (node.left, node.right) for v in self._parts(side))
        elif isinstance(node, ast.Dict):
            yield from node.values
        elif isinstance(node, ast.Lambda | ast.NamedExpr):
            yield getattr(node, "body", None) or node.value
        elif isinstance(node, ast.GeneratorExp | ast.ListComp):
            yield node.elt
        elif isinstance(node, ast.Subscript | ast.Starred):
            yield node.value
        elif isinstance(node, ast.Name):
            yield from self._values_of(node)
        elif isinstance(node, ast.Call):
            yield from self._results_of(node)

    def _values_of(self, name: ast.Name) -> Iterator[ast.AST | None]:
        function = self._around(name)
        for scope in (function, self.tree):
            if scope is None:
                continue
            found = list(_assigned(scope, name.id))
            yield from found
            if found:
                return
            if isinstance(scope, ast.FunctionDef):
                names = [a.arg for a in (*scope.args.args, *scope.args.kwonlyargs)]
                if name.id in names:
                    yield from self._passed(scope, name.id, names)
                    return

    def _passed(self, function: ast.FunctionDef, name: str, names: list[str]) -> Iterator[ast.AST]:
        place = [n for n in names if n != "self"].index(name) if name != "self" else None
        for call in self._calls:
            if _name(call.func) != function.name or place is None:
                continue
            yield from (k.value for k in call.keywords if k.arg == name)
            if len(call.args) > place:
                yield call.args[place]

    def _results_of(self, call: ast.Call) -> Iterator[ast.AST | None]:
        name = _name(call.func)
        if name in _MAKES_NOTHING:
            return
        if isinstance(call.func, ast.Subscript):
            yield call.func.value
        if name == "join" or name not in self._functions:
            yield from call.args
        else:
            function = self._functions[name]
            yield from (
                n.value for n in ast.walk(function) if isinstance(n, ast.Return | ast.Yield)
            )

    def _around(self, node: ast.AST) -> ast.FunctionDef | None:
        while node in self._within:
            node = self._within[node]
            if isinstance(node, ast.FunctionDef):
                return node
        return None


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", None) or getattr(function, "id", "")


def _assigned(scope: ast.AST, name: str) -> Iterator[ast.AST | None]:
    """What a name is set to, or what is added to it or to the list that it is."""
    for node in ast.walk(scope) if isinstance(scope, ast.FunctionDef) else scope.body:
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        if any(_is(target, name) for target in targets):
            yield getattr(node, "value", None)
        call = getattr(node, "value", None)
        adds = isinstance(call, ast.Call) and _name(call.func) == "append"
        if adds and _is(getattr(call.func, "value", None), name):
            yield from call.args


def _is(target: ast.AST | None, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _written(node: ast.AST) -> list[str]:
    """The template that an expression writes out, if it does."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value.replace("{", "{{").replace("}", "}}")]
    if isinstance(node, ast.JoinedStr):
        return ["".join((_written(v) or ["{}"])[0] for v in node.values)]
    if isinstance(node, ast.FormattedValue):
        return ["{}"]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _written(node.left), _written(node.right)
        if left or right:
            return [(left or ["{}"])[0] + (right or ["{}"])[0]]
    return []
