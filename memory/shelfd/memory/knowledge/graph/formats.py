"""The graph of entities as other programs read it: GraphML, DOT, and a walk as JSON. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from json.encoder import encode_basestring as _json  # a text as JSON, not only in ASCII
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from shelfd.memory.knowledge.graph.visiting import NodesAround

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


def visited_json(around: NodesAround) -> bytes:
    """Return what was come to as the JSON of ``traverse_graph``'s result: each node with the steps of the way there."""
    begun: dict[bool, dict[str, str]] = {True: {}, False: {}}  # the beginning of a step
    origins = {origin for origin, *_ in around.reached}
    ways: dict[int, tuple[int, str]] = {-1: (0, "")}  # to each node from which there is another: steps, and these
    nodes: list[str] = []
    for at, (origin, is_outgoing, relation, said, note_id) in enumerate(around.reached):
        begins = begun[is_outgoing].get(relation)
        if begins is None:
            direction = "outgoing" if is_outgoing else "incoming"
            begins = begun[is_outgoing][relation] = f'{{"relationship":{_json(relation)},"direction":"{direction}",'
        depth, steps = ways[origin]
        depth += 1
        way = f'{steps}{begins}{said},"note_id":{_json(note_id)}}}'
        nodes.append(f'{{{said},"depth":{depth},"path":[{way}]}}')
        if at in origins:
            ways[at] = depth, f"{way},"
    truncated = "true" if around.is_truncated else "false"
    return f'{{"nodes":[{",".join(nodes)}],"truncated":{truncated}}}'.encode()
