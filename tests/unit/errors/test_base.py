from __future__ import annotations

import copy
import inspect
import pickle

import pytest

from hopyard.errors import HopyardError
from hopyard.errors.base import HopyardError as Root

pytestmark = pytest.mark.unit


class Broken(HopyardError, RuntimeError):
    """Two fields, the last one with a default."""

    thing: str
    times: int = 1
    text = "{thing} broke {times} times."


class BrokenBadly(Broken):
    """One field more than its parent."""

    cause: str = "age"
    text = "{thing} broke {times} times, of {cause}."


class BrokenAgain(BrokenBadly):
    """Nothing more than its parent."""


class Counted(HopyardError, TimeoutError):
    """A text with conversions and formats."""

    name: str
    seconds: float
    text = "{name!r} took {seconds:.1f} s ({{braces}})."


class Worded(HopyardError, ValueError):
    """Words that depend on a value."""

    count: int

    def __str__(self) -> str:
        return "1 thing" if self.count == 1 else f"{self.count} things"


class Asked(HopyardError, LookupError):
    """A field that is called like the attribute for the template."""

    text: str

    def __str__(self) -> str:
        return f"nothing answers to {self.text}."


class KeyMissing(HopyardError, KeyError):
    """A built-in whose text is a repr."""

    key: str
    text = "there is no {key}."


class ModuleMissing(HopyardError, ImportError):
    """Fields called like the attributes of ImportError."""

    name: str
    path: str
    text = "{name} is not in {path}."


class FileBroken(HopyardError, FileNotFoundError):
    """Fields called like attributes of OSError, as many as it makes something of."""

    reason: str
    filename: str
    text = "{filename}: {reason}."


class ManyFields(HopyardError, OSError):
    """More fields than OSError keeps."""

    a: str
    b: str
    c: str
    d: str
    e: str
    f: str
    text = "{a}{b}{c}{d}{e}{f}"


class NotText(HopyardError, UnicodeDecodeError):
    """A built-in that wants five arguments."""

    reason: str
    text = "no text: {reason}."


class Unwritten(HopyardError, BlockingIOError):
    """A built-in that makes a number of its third argument."""

    first: str
    second: str
    third: str
    text = "{first} {second} {third}"


class Unreachable(FileBroken, ConnectionError):
    """A second built-in, and a field more."""

    remedy: str
    text = "{filename}: {reason}. {remedy}."


EXAMPLES = [
    Broken("the pump"),
    BrokenBadly("the pump", 2, "rust"),
    Counted("a", 1.25),
    Worded(3),
    Asked("call"),
    KeyMissing("key"),
    ModuleMissing("module", "folder"),
    FileBroken("torn", "a.txt"),
    ManyFields(*"abcdef"),
    NotText("a picture"),
    Unwritten("x", "y", "z"),
    Unreachable("torn", "a.txt", "Mend it"),
]
every_example = pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)


def test_fields_are_given_by_position_or_by_name():
    assert Broken("the pump", 2).args == Broken(times=2, thing="the pump").args == ("the pump", 2)


def test_field_with_a_default_may_be_left_out():
    error = Broken("the pump")
    assert error.times == 1
    assert error.args == ("the pump", 1)


def test_inherited_fields_come_first():
    assert BrokenBadly("the pump", 2, "rust").args == ("the pump", 2, "rust")


def test_class_that_adds_nothing_is_made_and_speaks_as_its_parent():
    assert str(BrokenAgain("the pump", 2, "rust")) == "the pump broke 2 times, of rust."


def test_class_without_fields_takes_no_arguments():
    with pytest.raises(TypeError):
        HopyardError("a text")


@pytest.mark.parametrize(
    ("values", "named", "words"),
    [
        ((), {}, "missing a required argument: 'thing'"),
        (("the pump", 2, 3), {}, "too many positional arguments"),
        (("the pump",), {"tmies": 2}, "unexpected keyword argument 'tmies'"),
        (("the pump",), {"thing": "the pipe"}, "multiple values for argument 'thing'"),
    ],
)
def test_wrong_arguments_are_refused_by_name(values, named, words):
    with pytest.raises(TypeError, match=words):
        Broken(*values, **named)


def test_field_without_a_default_after_one_with_a_default_is_refused():
    with pytest.raises(ValueError, match="follows default"):
        type("Wrong", (Broken,), {"__annotations__": {"late": "str"}})


def test_signature_shows_the_fields():
    assert str(inspect.signature(BrokenBadly)) == "(thing: 'str', times: 'int' = 1, cause: 'str' = 'age')"


def test_text_is_formatted_with_conversions_and_formats():
    assert str(Counted("it", 2.04)) == "'it' took 2.0 s ({braces})."


def test_braces_in_values_stay_as_they_are():
    assert str(Broken("{times} {0} {")) == "{times} {0} { broke 1 times."


def test_text_follows_a_field_that_was_changed():
    error = Broken("the pump")
    error.times = 5
    assert str(error) == "the pump broke 5 times."


def test_method_takes_the_place_of_a_text():
    assert [str(Worded(1)), str(Worded(2))] == ["1 thing", "2 things"]


def test_field_may_be_called_text():
    error = Asked("call")
    assert error.text == "call"
    assert str(error) == "nothing answers to call."


def test_key_error_shows_its_text_without_quotes():
    assert str(KeyMissing("key")) == "there is no key."


def test_fields_may_be_called_like_attributes_of_the_built_in():
    missing, broken = ModuleMissing("module", "folder"), FileBroken("torn", "a.txt")
    assert (missing.name, missing.path, missing.args) == ("module", "folder", ("module", "folder"))
    assert (broken.filename, broken.args) == ("a.txt", ("torn", "a.txt"))
    assert [str(missing), str(broken)] == ["module is not in folder.", "a.txt: torn."]


@pytest.mark.parametrize("error", [ManyFields(*"abcdef"), FileBroken("torn", "a.txt"), Unwritten(*"abc")])
def test_os_error_makes_nothing_of_the_fields(error):
    assert error.errno is None
    assert error.strerror is None


def test_os_error_keeps_all_fields():
    assert ManyFields(*"abcdef").args == tuple("abcdef")


@every_example
@pytest.mark.parametrize(
    "remade", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy]
)
def test_error_is_the_same_after_a_journey(error, remade):
    again = remade(error)
    assert type(again) is type(error)
    assert (again.args, str(again), repr(again)) == (error.args, str(error), repr(error))
    assert [getattr(again, name) for name in inspect.signature(type(error)).parameters] == list(error.args)


def test_notes_and_changed_fields_are_pickled():
    error = Broken("the pump")
    error.add_note("It was new.")
    error.times = 5
    again = pickle.loads(pickle.dumps(error))
    assert again.__notes__ == ["It was new."]
    assert str(again) == "the pump broke 5 times."


def test_error_that_was_raised_is_pickled_without_its_traceback():
    with pytest.raises(Broken) as raised:
        raise Broken("the pump")
    assert pickle.loads(pickle.dumps(raised.value)).__traceback__ is None


def test_class_of_the_library_is_named_by_the_path_to_import_it_from():
    assert Root is HopyardError
    assert HopyardError.__module__ == "hopyard.errors"
    assert type("Ours", (Broken,), {"__module__": "hopyard.errors.store"}).__module__ == "hopyard.errors"


def test_class_of_someone_else_keeps_its_module():
    assert Broken.__module__ == __name__
