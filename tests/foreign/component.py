"""Ask a component, loaded with the wasmtime package, and print its answers.

Usage: component.py COMPONENT < questions > answers

A question is one JSON object a line: `interface`, `function`, `arguments`. Records are objects whose members are named as
in the contract, a `none` is null. The answer is one JSON value a line, spelled the same way; the error of a result is
`{"err": {CASE: TEXT}}`, everything else stands bare.
"""

import json
import sys

from wasmtime import Config, Engine, Store
from wasmtime.component import (
    Component,
    EnumType,
    Linker,
    ListType,
    OptionType,
    Record,
    RecordType,
    ResultType,
    VariantType,
)

PACKAGE = "counterfoil:policy"
VERSION = "@0.1.0"


def to_component(kind, value):
    """A JSON value as the package wants a value of this type."""
    if isinstance(kind, OptionType):
        return None if value is None else to_component(kind.payload, value)
    if isinstance(kind, RecordType):
        record = Record()
        for name, member in kind.fields:
            setattr(record, name, to_component(member, value[name]))
        return record
    if isinstance(kind, ListType):
        return [to_component(kind.element, item) for item in value]
    return value


def from_component(kind, value):
    """A value that the package gave, as JSON."""
    if isinstance(kind, ResultType):
        # The package gives the bare payload; the contract's errors are its only variant.
        failed = hasattr(value, "tag")
        return {"err": from_component(kind.err, value)} if failed else from_component(kind.ok, value)
    if isinstance(kind, VariantType):
        return {value.tag: value.payload}
    if isinstance(kind, OptionType):
        return None if value is None else from_component(kind.payload, value)
    if isinstance(kind, RecordType):
        return {name: from_component(member, getattr(value, name)) for name, member in kind.fields}
    if isinstance(kind, ListType):
        return [from_component(kind.element, item) for item in value]
    return value


def main(path: str) -> None:
    engine = Engine(Config())
    store = Store(engine)
    # No import is defined: a component that wanted one would not start.
    instance = Linker(engine).instantiate(store, Component.from_file(engine, path))
    functions = {}
    for line in sys.stdin:
        question = json.loads(line)
        name = (question["interface"], question["function"])
        if name not in functions:
            inside = instance.get_export_index(store, f"{PACKAGE}/{name[0]}{VERSION}")
            function = instance.get_func(store, instance.get_export_index(store, name[1], inside))
            functions[name] = (function, function.type(store))
        function, kind = functions[name]
        given = [to_component(wanted, value) for (_, wanted), value in zip(kind.params, question["arguments"], strict=True)]
        answer = function(store, *given)
        function.post_return(store)
        print(json.dumps(from_component(kind.result, answer)))


main(sys.argv[1])
