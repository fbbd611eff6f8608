"""The small changes that are made to a module, one at a time, and how one of them gets into the running module."""

import ast
import copy
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from types import CodeType, FunctionType, ModuleType
from typing import Any

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.MatMult: ast.Mult,
}
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_PAIRS = {
    ast.Name: "min max, any all, sum max",
    ast.Attribute: "exp expm1, log log1p, sinh cosh, minimum maximum, min max, argmin argmax, floor ceil, any all,"
    "ones zeros, p q, cumsum cumprod, keep move, kept_scale moved_scale, sum max",
}
NAMES = {
    kind: {a: b for pair in reversed(pairs.split(",")) for one in [pair.split()] for a, b in (one, one[::-1])}
    for kind, pairs in _PAIRS.items()
}

COMMUTATIVE = {"min", "max", "minimum", "maximum", "multiply", "hypot", "logaddexp", "array_equal", "clip"}
"""Functions whose first two arguments may change places."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: where it is in the syntax tree, and how to name it.

    Parameters
    ----------
    module, function : str
        Dotted module below ``ldpnb``, and the function or method, constant or field that changes.
    line : int
    change : str
        Old and new text.
    repeat : int
        How many equal changes stand before it in the same function.
    place : (int, int)
        Number of the slot in the tree, and of the replacement there.
    """

    module: str
    function: str
    line: int
    change: str
    repeat: int
    place: tuple[int, int]

    @property
    def key(self) -> str:
        """A name that does not depend on other parts of the module."""
        return f"{self.module}|{self.function}|{self.change}|{self.repeat}"


def mutants(module: str, source: str) -> list[Mutant]:
    """Return every mutant of a module."""
    found, seen = [], Counter()
    for number, (function, node, _) in enumerate(_slots(ast.parse(source))):
        for choice, new in enumerate(_replacements(node)):
            change = f"{_text(node)} -> {_text(new)}"
            repeat = seen[function, change]
            seen[function, change] += 1
            found.append(Mutant(module, function, node.lineno, change, repeat, (number, choice)))
    return found


def install(mutant: Mutant, module: ModuleType, source: str) -> None:
    """Change the running module; functions keep their identity and get new code, which every importer sees."""
    tree = ast.parse(source)
    number, choice = mutant.place
    _, node, put = list(_slots(tree))[number]
    put(list(_replacements(node))[choice])
    ast.fix_missing_locations(tree)
    path = mutant.function.split(".")
    body, owner = tree.body, module
    for name in path[:-1]:
        owner = getattr(owner, name)
        body = next(s for s in body if isinstance(s, ast.ClassDef) and s.name == name).body
    made = next(s for s in body if path[-1] in _names(s))

    def value(expression: ast.expr) -> Any:
        return eval(compile(ast.Expression(expression), module.__file__, "eval"), vars(module))

    if not isinstance(made, ast.FunctionDef):
        if owner is module:
            setattr(module, path[-1], value(made.value))
        else:
            kept = {f.name: f.default for f in fields(owner) if f.default is not MISSING}
            owner.__init__.__defaults__ = tuple((kept | {path[-1]: value(made.value)}).values())
        return
    function = _function(inspect.getattr_static(owner, path[-1]))
    code = compile(tree, module.__file__, "exec")
    for name in path:
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
    function.__code__ = code
    function.__defaults__ = tuple(value(d) for d in made.args.defaults) or None
    named = zip(made.args.kwonlyargs, made.args.kw_defaults, strict=True)
    function.__kwdefaults__ = {argument.arg: value(default) for argument, default in named if default} or None


def _function(found: Any) -> FunctionType:
    if isinstance(found, property):
        return found.fget
    return inspect.unwrap(getattr(found, "__func__", getattr(found, "func", found)))


def _names(statement: ast.stmt) -> list[str]:
    """Return what a statement of a module or class defines."""
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    if isinstance(statement, ast.AnnAssign) and statement.value:
        return [statement.target.id] if isinstance(statement.target, ast.Name) else []
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return []


def _is_union_of_types(statement: ast.AST) -> bool:
    """Say whether a statement gives a name to types joined by ``|``, which are for the reader and have no value."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr)


def _is_allowance(statement: ast.AST) -> bool:
    """Say whether a statement estimates rounding errors: any larger number does, and no result shows a smaller one."""
    names = _names(statement) if isinstance(statement, ast.Assign) else []
    return any(name == "rounding" or name.endswith("_rounding") for name in names)


def _slots(
    tree: ast.AST, inside: str = "", function: str = ""
) -> Iterator[tuple[str, ast.AST, Callable[[ast.AST], None]]]:
    """Yield every node that may be replaced, the function it belongs to, and how to put another in its place."""
    for name, held in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for position, node in enumerate(held if isinstance(held, list) else [held]):
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
                continue
            if _is_allowance(node) or (isinstance(node, ast.keyword) and node.arg == "strict"):
                continue
            if isinstance(node, ast.ClassDef):
                yield from _slots(node, f"{inside}{node.name}.")
                continue
            where = function
            if not function:
                defined = _names(node) if isinstance(node, ast.stmt) else []
                if len(defined) != 1 or _is_union_of_types(node):
                    continue
                where = inside + defined[0]
            if function:

                def put(new: ast.AST, held: Any = held, position: int = position, name: str = name) -> None:
                    if isinstance(held, list):
                        held[position] = new
                    else:
                        setattr(tree, name, new)

                yield where, node, put
            if not isinstance(node, ast.Raise):
                yield from _slots(node, inside, where)


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(op)](), right)
        case ast.AugAssign(target, op, value) if type(op) in OPERATORS:
            yield ast.copy_location(ast.AugAssign(target, OPERATORS[type(op)](), value), node)
        case ast.Compare(left, [op], right):
            for other in COMPARISONS[type(op)]:
                yield ast.Compare(left, [other()], right)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), values)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield from (ast.Constant(other) for other in sorted(_numbers(value) - {value}))
        case ast.Name(name, ast.Load()) if name in NAMES[ast.Name]:
            yield ast.Name(NAMES[ast.Name][name], ast.Load())
        case ast.Attribute(value, name, ast.Load()) if name in NAMES[ast.Attribute]:
            yield ast.Attribute(value, NAMES[ast.Attribute][name], ast.Load())
        case ast.Call(function, [one, two, *rest], keywords) if ast.dump(one) != ast.dump(two):
            starred = any(isinstance(argument, ast.Starred) for argument in (one, two))
            if not starred and _text(function).split(".")[-1] not in COMMUTATIVE:
                yield ast.Call(function, [two, one, *rest], keywords)
        case ast.IfExp(test, body, other) if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield ast.IfExp(test, other, body)
        case ast.If(test, body, other) if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), test), body, other), node)
        case ast.Return(ast.expr() as value) if ast.dump(value) != ast.dump(ast.Constant(None)):
            yield ast.copy_location(ast.Return(ast.Constant(None)), node)
        case ast.Raise() | ast.Expr(ast.Call()) | ast.Break() | ast.Continue():
            yield ast.copy_location(ast.Pass(), node)


def _numbers(value: float) -> set[float]:
    """Return what takes a number's place: what differs from it by more than its user would accept."""
    if abs(value) >= 20:
        return {2 * value, value // 2 if isinstance(value, int) else value / 2}
    if 0 < abs(value) < 1e-6:
        return {value + 1, value - 1} | ({1000 * value} if abs(value) > 1e-100 else set())
    return {value + 1, value - 1, 2 * value}


def _text(node: ast.AST) -> str:
    shown = copy.copy(node)
    if isinstance(shown, ast.If):
        shown.body, shown.orelse = [ast.Pass()], []
    text = " ".join(ast.unparse(ast.fix_missing_locations(shown)).split())
    return text if len(text) <= 90 else text[:60] + " ... " + text[-25:]
