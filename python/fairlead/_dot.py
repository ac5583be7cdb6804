"""A reader of directed graphs in DOT, the language of Graphviz (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
      | (?P<text>"(?:[^"\\]|\\.)*")
      | (?P<number>-?(?:\.\d+|\d+(?:\.\d*)?))(?![^\W\d])
      | (?P<word>[^\W\d]\w*)
      | (?P<sign>->|--|[{}\[\]=;,:+])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_KEYWORDS = ("node", "edge", "graph", "digraph", "subgraph", "strict")


class _Token(NamedTuple):
    sort: str
    text: str
    line: int


class DotGraph:
    """A directed graph with the two functions of networkx that `graph_tasks` uses."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._nodes: dict[str, dict[str, Any]] = {}
        self._edges: list[tuple[str, str, dict[str, Any]]] = []

    def nodes(self, data: bool = True) -> Iterable[tuple[str, dict[str, Any]]]:
        return self._nodes.items()

    def edges(self, data: bool = True) -> Iterable[tuple[str, str, dict[str, Any]]]:
        return self._edges

    def node(self, name: str, attributes: dict[str, Any], defaults: dict[str, Any]) -> None:
        if name not in self._nodes:
            self._nodes[name] = dict(defaults)
        self._nodes[name].update(attributes)

    def edge(self, tail: str, head: str, attributes: dict[str, Any]) -> None:
        self._edges.append((tail, head, attributes))


class _Reader:
    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self._tokens = self._split(text)
        self._next = next(self._tokens)

    def fail(self, why: str, line: int | None = None) -> ValueError:
        return ValueError(f"{self.where}, line {line or self._next.line}: {why}")

    def _split(self, text: str) -> Iterator[_Token]:
        at, line = 0, 1
        while at < len(text):
            if text[at] == "<":
                end, depth = at, 0
                while end < len(text):
                    depth += {"<": 1, ">": -1}.get(text[end], 0)
                    end += 1
                    if depth == 0:
                        break
                if depth != 0:
                    raise ValueError(f"{self.where}, line {line}: the HTML text has no end")
                yield _Token("name", text[at + 1 : end - 1], line)
                line, at = line + text.count("\n", at, end), end
                continue
            match = _TOKEN.match(text, at)
            if match is None:
                what = "the text has no end" if text[at] == '"' else f"unexpected character {text[at]!r}"
                raise ValueError(f"{self.where}, line {line}: {what}")
            piece, sort = match.group(), str(match.lastgroup)
            if sort == "text":
                yield _Token("name", re.sub(r"\\\n", "", piece[1:-1]).replace('\\"', '"'), line)
            elif sort == "word" and piece.lower() in _KEYWORDS:
                yield _Token("keyword", piece.lower(), line)
            elif sort in ("word", "number"):
                yield _Token("name", piece, line)
            elif sort == "sign":
                yield _Token("sign", piece, line)
            line, at = line + piece.count("\n"), match.end()
        yield _Token("end", "the end", line)

    def take(self) -> _Token:
        token = self._next
        if token.sort != "end":
            self._next = next(self._tokens)
        return token

    def take_if(self, sort: str, text: str) -> bool:
        if (self._next.sort, self._next.text) != (sort, text):
            return False
        self.take()
        return True

    def expect(self, text: str) -> None:
        if not self.take_if("sign", text):
            raise self.fail(f"there is {self._next.text!r} instead of {text!r}")

    def identifier(self) -> str:
        if self._next.sort != "name":
            raise self.fail(f"there is {self._next.text!r} instead of a name")
        text = self.take().text
        while self.take_if("sign", "+"):
            text += self.identifier()
        return text

    def graph(self) -> DotGraph:
        self.take_if("keyword", "strict")
        kind = self.take()
        if (kind.sort, kind.text) == ("keyword", "graph"):
            raise self.fail("the graph is undirected: a task graph is a digraph", kind.line)
        if (kind.sort, kind.text) != ("keyword", "digraph"):
            raise self.fail(f"there is {kind.text!r} instead of digraph", kind.line)
        graph = DotGraph(self.identifier() if self._next.sort == "name" else "")
        self._statements(graph, {}, {})
        if self._next.sort != "end":
            raise self.fail(f"there is {self._next.text!r} after the graph")
        return graph

    def _statements(self, graph: DotGraph, node: dict[str, Any], edge: dict[str, Any]) -> list[str]:
        """The nodes of a block. The defaults that it changes hold inside of it."""
        node, edge = dict(node), dict(edge)
        names: list[str] = []
        self.expect("{")
        while not self.take_if("sign", "}"):
            if self._next.sort == "end":
                raise self.fail("the graph has no closing }")
            names += self._statement(graph, node, edge)
            self.take_if("sign", ";")
        return names

    def _statement(self, graph: DotGraph, node: dict[str, Any], edge: dict[str, Any]) -> list[str]:
        if self._next.sort == "keyword" and self._next.text in ("node", "edge", "graph"):
            defaults = {"node": node, "edge": edge}.get(self.take().text, {})
            defaults.update(self._attributes())
            return []
        ends = [self._end(graph, node, edge)]
        if len(ends[0]) == 1 and self.take_if("sign", "="):  # an attribute of the graph
            self.identifier()
            return []
        while self._next.sort == "sign" and self._next.text in ("->", "--"):
            if self.take().text == "--":
                raise self.fail("an undirected edge: dependencies are written ->")
            ends.append(self._end(graph, node, edge))
        attributes = self._attributes()
        for block in ends:
            for name in block:
                graph.node(name, attributes if len(ends) == 1 else {}, node)
        for tails, heads in zip(ends, ends[1:]):
            for tail in tails:
                for head in heads:
                    graph.edge(tail, head, {**edge, **attributes})
        return [name for block in ends for name in block]

    def _end(self, graph: DotGraph, node: dict[str, Any], edge: dict[str, Any]) -> list[str]:
        """A node, or the nodes of a subgraph."""
        if self.take_if("keyword", "subgraph") and self._next.sort == "name":
            self.identifier()
        if (self._next.sort, self._next.text) == ("sign", "{"):
            return self._statements(graph, node, edge)
        name = self.identifier()
        for _ in range(2):  # a port, and a point of the compass
            if self.take_if("sign", ":"):
                self.identifier()
        return [name]

    def _attributes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.take_if("sign", "["):
            while not self.take_if("sign", "]"):
                key = self.identifier()
                self.expect("=")
                found[key] = self.identifier()
                if not self.take_if("sign", ","):
                    self.take_if("sign", ";")
        return found


def read_dot(text: str, where: str) -> DotGraph:
    """Raises ValueError with the line. Values of attributes are texts."""
    return _Reader(text, where).graph()
