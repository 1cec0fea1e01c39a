"""Values from their printed form, which is what a record keeps of what a function returned."""

from __future__ import annotations

import ast
import math
from typing import Any

_FLOATS = {"nan": math.nan, "inf": math.inf}
_TRUTHS = {"np.True_": True, "np.False_": False}


def parse_printed(text: str) -> Any:
    """Returns the value that `repr` made a text of, if that is a number, a text, None, or a collection of them.

    Scalars of NumPy become numbers. Of any other value, and of one that was too long to be kept, the text is returned; what was cut ends in "…".
    """
    try:
        return ast.literal_eval(_Plain().visit(ast.parse(text, mode="eval")))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


class _Plain(ast.NodeTransformer):
    """Puts numbers in the place of NaN, infinity, and scalars of NumPy such as ``np.float64(0.5)``."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(_FLOATS[node.id]) if node.id in _FLOATS else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return ast.Constant(_TRUTHS[text]) if (text := ast.unparse(node)) in _TRUTHS else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function, arguments = node.func, node.args
        is_numpy = isinstance(function, ast.Attribute) and ast.unparse(function.value) == "np"
        if is_numpy and len(arguments) == 1 and not node.keywords:
            argument = self.visit(arguments[0])
            is_number = isinstance(argument, ast.Constant | ast.UnaryOp)
            return argument if is_number else node
        return node
