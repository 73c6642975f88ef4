"""The graph of entities as other programs read it: GraphML and DOT. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

#: What XML 1.0 has no way to write.
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_GRAPHML: Final = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
 <key id="type" for="node" attr.name="type" attr.type="string"/>
 <key id="value" for="node" attr.name="value" attr.type="string"/>
 <key id="relationship" for="edge" attr.name="relationship" attr.type="string"/>
 <key id="edge_type" for="edge" attr.name="edge_type" attr.type="string"/>
 <key id="confidence" for="edge" attr.name="confidence" attr.type="double"/>
 <key id="note_ids" for="edge" attr.name="note_ids" attr.type="string"/>
 <graph id="entities" edgedefault="directed">
"""


def graphml(nodes: Iterable[Mapping[str, Any]], edges: Iterable[Mapping[str, Any]]) -> str:
    """Return nodes and edges, as ``graph.export`` shows them, as a GraphML document."""
    lines = [f"  <node id={_attribute(node['id'])}>{_data(node, ('type', 'value'))}</node>" for node in nodes]
    for edge in edges:
        said = {**edge, "note_ids": " ".join(edge["note_ids"])}
        ends = f"source={_attribute(edge['source'])} target={_attribute(edge['target'])}"
        names = ("relationship", "edge_type", "confidence", "note_ids")
        lines.append(f"  <edge {ends}>{_data(said, names)}</edge>")
    return "\n".join([_GRAPHML.rstrip("\n"), *lines, " </graph>", "</graphml>", ""])


def _data(item: Mapping[str, Any], names: Sequence[str]) -> str:
    return "".join(f'<data key="{name}">{escape(_xml(str(item[name])))}</data>' for name in names)


def _attribute(value: str) -> str:
    return quoteattr(_xml(value))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def dot(nodes: Iterable[Mapping[str, Any]], edges: Iterable[Mapping[str, Any]]) -> str:
    """Return nodes and edges, as ``graph.export`` shows them, in the language of Graphviz."""
    lines = ["digraph entities {"]
    lines += [
        f"  {_quoted(node['id'])} [label={_quoted(node['value'])}, type={_quoted(node['type'])}];" for node in nodes
    ]
    for edge in edges:
        style = "solid" if edge["edge_type"] == "causal" else "dashed"
        ends = f"{_quoted(edge['source'])} -> {_quoted(edge['target'])}"
        lines.append(f"  {ends} [label={_quoted(edge['relationship'])}, style={style}];")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    # A backslash would begin an escape of Graphviz's own, such as \N for a node's name.
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("\r", " ").replace("\0", " ")
    return f'"{plain}"'
