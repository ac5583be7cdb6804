"""Classes are small: at most 40 functions and 20 data members, in at most three source files. docs/design.md lists
those that have more members, with the reason."""

import collections
import re
import unittest

import tree

MOST_FUNCTIONS, MOST_MEMBERS, MOST_EXCEPTIONS, MOST_FILES = 40, 20, 5, 3

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])'")
CLASS = re.compile(r"\b(?<!enum )(class|struct)\s+(?:alignas\(\w+\)\s*)?(\w+)\s*(?:final\s*)?(?::[^;{()]*)?\{")
# "Result Class::function(" at the beginning of a line.
DEFINITION = re.compile(r"^(?:[\w\[][\w:<>,&*\[\] ]* [&*]*)?(\w+)::~?\w+\(", re.MULTILINE)
NESTED = re.compile(r"(?:enum|class|struct|union|using|friend|static_assert|typedef)\b")


def without_comments(text):
    return TEXT.sub('""', COMMENT.sub("", text))


def closing(text, at):
    """Where what opens there closes."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "({") - (text[i] in ")}")
        if depth == 0:
            return i
    raise ValueError("a brace is not closed")


def plain(text):
    """Without what is in angle brackets, attributes, and the names of operators."""
    text = re.sub(r"alignas\([^)]*\)|\[\[[^\]]*\]\]", "", " ".join(text.split()))
    text = re.sub(r"operator\s*(?:\(\)|[^\s\w(]+|\w+(?= *\())\s*\(", "operator_(", text)
    while (shorter := re.sub(r"<[^<>]*>|(?<=\()[^()]+(?=\))|(?<=\()\(\)", "", text)) != text:
        text = shorter
    return re.sub(r"^(?:template *|virtual |explicit |inline )+", "", text).strip()


def is_function(text):
    return "(" in re.split(r"[={]", plain(text))[0]


def statements(body):
    """Each member; of what is in braces, they are left."""
    begin, at = 0, 0
    label = re.compile(r"\s*(?:public|protected|private)\s*:(?!:)")
    while at < len(body):
        if at == begin and (found := label.match(body, at)):
            begin = at = found.end()
            continue
        if body[at] == "(":
            at = closing(body, at) + 1
        elif body[at] == "{":
            body = body[:at] + "{}" + body[closing(body, at) + 1:]
            at += 2
            before = body[begin:at - 2]
            if NESTED.match(plain(before)) or not is_function(before) or re.match(r"\s*[,{]", body[at:]):
                continue  # a semicolon ends it, or another braced initializer follows
            if ended := re.match(r"\s*;", body[at:]):
                at += ended.end()
            yield before
            begin = at
        elif body[at] == ";":
            yield body[begin:at]
            at += 1
            begin = at
        else:
            at += 1


def members(body):
    """The functions, and the data members."""
    functions, data = [], []
    for statement in statements(body):
        text = plain(statement)
        if not text or NESTED.match(text):
            continue
        if is_function(statement):
            functions.append(text)
        elif not re.match(r"(?:constexpr )?static\b", text):
            data += re.sub(r"\{[^}]*\}|=[^,;]*\{\}", "", text).split(",")
    return functions, data


def classes(text):
    text = without_comments(text)
    for found in CLASS.finditer(text):
        begin = found.end() - 1
        yield found[1], found[2], text[begin + 1:closing(text, begin)]


def public_parts(body):
    """The public parts of a class."""
    while nested := CLASS.search(body):
        body = body[:nested.start()] + body[closing(body, nested.end() - 1) + 1:]
    parts = re.split(r"\b(public|private|protected)\s*:(?!:)", body)
    return [parts[i + 1] for i in range(1, len(parts), 2) if parts[i] == "public"]


def exceptions(heading="Large classes"):
    """Named in docs/design.md: '- `Name`: ' under the heading."""
    section = tree.read(tree.ROOT / "docs" / "design.md").split(f"## {heading}", 1)
    return set(re.findall(r"^- `(\w+)`: \S", section[1].split("\n## ")[0], re.MULTILINE)) if len(section) > 1 else set()


class ClassSizes(unittest.TestCase):
    def test_no_class_is_too_large(self):
        large, seen = {}, 0
        for path in sorted((tree.ROOT / "src").rglob("*.[ch]pp")):
            for kind, name, body in classes(tree.read(path)):
                functions, data = members(body)
                seen += 1
                # A struct is a list of values.
                if len(functions) > MOST_FUNCTIONS or len(data) > MOST_MEMBERS and kind == "class":
                    large[name] = f"{path.name}: {len(functions)} functions, {len(data)} data members"
        self.assertGreater(seen, 300)
        self.assertLessEqual(len(exceptions()), MOST_EXCEPTIONS)
        self.assertEqual(set(large), exceptions(), large)

    def test_data_members_of_classes_are_private(self):
        found = collections.defaultdict(list)
        for path in sorted((tree.ROOT / "src").rglob("*.[ch]pp")):
            for kind, name, body in classes(tree.read(path)):
                if kind == "class":
                    data = [member for part in public_parts(body) for member in members(part)[1]]
                    found[name] += [member for member in data if re.search(r"\w", member)]
        self.assertEqual({name for name, data in found.items() if data}, exceptions("Classes with public members"), dict(found))

    def test_no_class_is_spread_over_many_files(self):
        files = collections.defaultdict(set)
        for path in sorted((tree.ROOT / "src").rglob("*.cpp")):
            for name in DEFINITION.findall(without_comments(tree.read(path))):
                files[name].add(path.name)
        self.assertGreater(len(files), 150)
        self.assertEqual({name: found for name, found in files.items() if len(found) > MOST_FILES}, {})

    def test_members_are_counted(self):
        kind, name, body = next(classes("""
            class A final : public B {
             public:
              explicit A(int x = {}, B b = {1, 2}) : x_(x), y_{1 << 3} { for (;;) {} }
              ~A() override;
              template <class F> auto each(F&& f) const -> decltype(f()) { return f(); }
              bool operator==(const A&) const = default;
              A& operator=(const A&) = delete;
              enum class Kind { a, b };
              struct Inner { int y; void f(); };
              static constexpr int most = 3;
              int open = 0;

             private:
              std::function<void(int)> callback_;
              alignas(64) std::atomic<int> count_{0};
              std::vector<int> a_{1, 2}, b_;
              const std::map<int, std::pair<int, int>> map_ = {{1, {2, 3}}};
            };"""))
        functions, data = members(body)
        self.assertEqual(name, "A")
        self.assertEqual(len(functions), 5, functions)
        self.assertEqual(len(data), 6, data)


if __name__ == "__main__":
    unittest.main()
