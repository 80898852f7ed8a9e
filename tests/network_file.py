"""network_file.py: files of trained networks (docs/formats.md) for tests: read, changed, and written with the digest
that belongs to them.  `network_file.py IN OUT TEXT OLD NEW` replaces a piece of a text."""
import hashlib, json, struct, sys


def read(path):
    """The header as a dict, and all numbers as bytes: those of a tensor begin at its data_offsets[0]."""
    b = open(path, "rb").read()
    n, = struct.unpack("<Q", b[:8])
    return json.loads(b[8:8 + n]), bytearray(b[8 + n:])


def write(path, head, numbers):
    head["__metadata__"]["sha256"] = "0" * 64
    text = json.dumps(head, ensure_ascii=False).encode()
    text += b" " * (-(8 + len(text)) % 64)
    b = struct.pack("<Q", len(text)) + text + bytes(numbers)
    digest = hashlib.sha256(b).hexdigest().encode()
    open(path, "wb").write(b.replace(b"0" * 64, digest, 1))


if __name__ == "__main__":
    source, to, name, old, new = sys.argv[1:]
    head, numbers = read(source)
    texts = head["__metadata__"]
    assert old in texts[name], texts[name]
    texts[name] = texts[name].replace(old, new)
    write(to, head, numbers)
