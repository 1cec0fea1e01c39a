import pickle
import threading
from pathlib import Path

import pytest

from hopyard.errors import InvalidName, IsAFolder, OutsideProject, UnknownStorageOption, UnsupportedStore
from hopyard.store import Project

pytestmark = pytest.mark.unit


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.open(str(tmp_path), "demo")


def test_opening_makes_nothing(tmp_path: Path) -> None:
    Project.open(str(tmp_path / "root"), "demo")
    assert list(tmp_path.iterdir()) == []


def test_path_of_a_local_project_is_plain_and_ends_with_a_slash(project: Project, tmp_path: Path) -> None:
    assert project.path == f"{tmp_path}/Projects/demo/"
    project.put("file", b"content")
    with open(project.path + "file", "rb") as file:
        assert file.read() == b"content"


@pytest.mark.parametrize("root", ["hdfs://host:8020", "s3://bucket/prefix", "memory://x", "hdfs://"])
def test_path_of_a_remote_project_is_a_url(root: str) -> None:
    project = Project.open(root, "demo")
    assert project.path == f"{root}/Projects/demo/"
    assert project.url("a/b c#d") == f"{root}/Projects/demo/a/b c#d"
    assert project.relative(project.url("a/b c#d")) == "a/b c#d"


def test_url_keeps_a_trailing_slash(project: Project) -> None:
    assert project.url("Logs/") == f"{project.path}Logs/"
    assert project.url() == project.path


@pytest.mark.parametrize("relative", ["../other", "/etc/passwd", "a/../../b", "a\0b"])
def test_url_of_a_path_that_leaves_the_project_is_refused(project: Project, relative: str) -> None:
    with pytest.raises(InvalidName):
        project.url(relative)


def test_a_full_path_outside_of_the_project_is_refused_in_one_sentence(project: Project) -> None:
    for use in (project.url, project.read, project.list, project.exists, project.remove):
        with pytest.raises(OutsideProject) as caught:
            use("/etc/passwd")
        assert str(caught.value) == (
            f"'/etc/passwd' is not in the project {project.path}. "
            "Give a path in the project, in full or relative to it."
        )


def test_a_local_path_whose_links_were_resolved_is_understood(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    project = Project(str(tmp_path / "link"), "demo")
    project.put("file", b"content")
    assert project.read(str((tmp_path / "disk/Projects/demo/file").resolve())) == b"content"


def test_environment_says_which_project_is_meant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOPYARD_ROOT", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("HOPYARD_PROJECT", "named")
    assert Project.open().path == f"{tmp_path}/elsewhere/Projects/named/"


@pytest.mark.parametrize("name", ["", "..", "a/b", "a:b"])
def test_name_of_a_project_is_a_valid_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidName):
        Project(str(tmp_path), name)


def test_unknown_store_is_refused_when_the_project_is_opened() -> None:
    with pytest.raises(UnsupportedStore):
        Project.open("gopher://host", "demo")


def test_project_travels_as_its_recipe() -> None:
    project = Project.open("s3://bucket", "demo", storage_options={"key": "k"})
    again = pickle.loads(pickle.dumps(project))
    assert again == project
    assert hash(again) == hash(project)
    assert (again.root, again.name, again.path) == (project.root, project.name, project.path)
    assert again != Project.open("s3://bucket", "demo", storage_options={"key": "other"})


def test_project_that_is_in_use_travels_too(project: Project) -> None:
    project.put("file", b"content")
    assert pickle.loads(pickle.dumps(project)).read("file") == b"content"
    assert len(pickle.dumps(project)) < 300


def test_secrets_do_not_show() -> None:
    project = Project.open("s3://bucket", "demo", storage_options={"secret": "hush"})
    assert "hush" not in f"{project} {project!r}"


def test_paths_of_pathlib_are_understood_wherever_a_path_is(tmp_path: Path) -> None:
    project = Project.open(tmp_path / "root", "demo")
    file = Path("Resources") / "note.txt"
    project.put(file, b"hello")
    project.create(Path("Resources/once"), b"1")
    assert (project.read(file), b"".join(project.read_chunks(file))) == (b"hello", b"hello")
    assert project.url(file) == f"{tmp_path}/root/Projects/demo/Resources/note.txt"
    assert project.local_path(file) == Path(project.url(file))
    assert project.read(Path(project.url(file))) == b"hello"
    assert (project.relative(file), project.url(Path())) == ("Resources/note.txt", project.path)
    assert [entry.name for entry in project.list(Path("Resources"))] == ["note.txt", "once"]
    project.move(file, Path("Models/note.txt"))
    assert (project.exists(file), project.is_dir(Path("Models"))) == (False, True)
    assert project.copy_out(Path("Models"), tmp_path / "copy") == tmp_path / "copy"
    assert project.copy_in(tmp_path / "copy", Path("Again")) == project.url("Again")
    project.mkdir(Path("Empty"))
    project.remove(Path("Again"), recursive=True)
    assert sorted(entry.name for entry in project.list()) == ["Empty", "Models", "Resources"]


@pytest.mark.parametrize("url", ["s3://bucket/x", "hdfs://host:8020/x", "file:///x"])
def test_a_url_that_pathlib_has_spoilt_is_told_as_such(project: Project, url: str) -> None:
    for use in (project.url, project.read, project.exists, Project.open):
        with pytest.raises(
            InvalidName, match="pathlib makes one slash of the two in a URL; give a URL as text"
        ):
            use(Path(url))


@pytest.mark.parametrize("path", [3, None, b"bytes", ["a"]])
def test_what_is_no_path_is_told_its_type(project: Project, path: object) -> None:
    with pytest.raises(InvalidName, match=f"of type {type(path).__name__}; give a path or URL as text"):
        project.read(path)  # type: ignore[arg-type]


# --- storage options


@pytest.mark.parametrize("root", ["/data", "memory://x"])
def test_options_for_a_store_without_any_are_refused(root: str) -> None:
    with pytest.raises(UnknownStorageOption) as caught:
        Project.open(root, "demo", storage_options={"nonsense": 1})
    assert str(caught.value) == f"{root} takes no storage options, but got 'nonsense'; leave it out."


def test_options_in_the_environment_may_be_for_another_store(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOPYARD_STORAGE_OPTIONS", '{"key": "k"}')
    project = Project.open(tmp_path, "demo")
    project.put("file", b"content")
    assert pickle.loads(pickle.dumps(project)).read("file") == b"content"


@pytest.mark.parametrize(
    ("root", "option", "guess", "known"),
    [
        ("s3://bucket", "nonsense", ".", "anon, asynchronous, batch_size, cache_regions, client_kwargs"),
        ("s3://bucket", "endpoint_ur", "; did you mean 'endpoint_url'?", "profile"),
        ("hdfs://host:1", "nonsense", ".", "kerberos_principal, Hadoop settings such as 'dfs.replication'."),
        ("hdfs://host:1", "config_folder", "; did you mean 'config_dir'?", "config_dir, kerberos_cache"),
        ("webhdfs://host:1", "users", "; did you mean 'user'?", "use_https, user."),
    ],
)
def test_an_option_that_a_store_does_not_have_is_named_with_those_that_it_has(
    root: str, option: str, guess: str, known: str
) -> None:
    project = Project.open(root, "demo", storage_options={option: "x"})
    with pytest.raises(UnknownStorageOption) as caught:
        project.read("file")
    text = str(caught.value)
    assert text.startswith(f"{root}/Projects/demo has no storage option {option!r}{guess} It has ")
    assert known in text


class TestRelative:
    def test_full_path_and_relative_path_are_understood(self, project: Project) -> None:
        assert project.relative(project.url("Logs/a b")) == "Logs/a b"
        assert project.relative(f"file://{project.path}Logs") == "Logs"
        assert project.relative("Logs/a") == "Logs/a"
        assert project.relative(project.path) == ""
        assert project.relative("") == ""

    @pytest.mark.parametrize("root", ["/data", "hdfs://host:8020/yard", "s3://bucket"])
    def test_old_path_without_a_host_is_understood_on_every_store(self, root: str) -> None:
        project = Project(root, "demo")
        assert project.relative("hdfs:///Projects/demo/Logs/TensorFlow/") == "Logs/TensorFlow"
        assert project.relative("/Projects/demo/Logs") == "Logs"
        assert project.relative("/Projects/demo") == ""

    @pytest.mark.parametrize(
        "url",
        [
            "/Projects/other/Logs",
            "/Projects/demolition/Logs",
            "/etc/passwd",
            "/Projects/demo/../other",
            "hdfs://elsewhere:8020/Projects/demo/Logs",
            "s3://host:8020/Projects/demo/Logs",
            "../x",
            "hdfs:///Projects/demo/a/../../b",
        ],
    )
    def test_what_is_elsewhere_is_refused(self, url: str) -> None:
        with pytest.raises(InvalidName):
            Project("hdfs://host:8020", "demo").relative(url)


def test_project_itself_is_not_removed_or_moved(project: Project) -> None:
    project.put("file", b"")
    with pytest.raises(InvalidName):
        project.remove("", recursive=True)
    with pytest.raises(InvalidName):
        project.move("", "elsewhere")
    assert project.exists("file")


def test_walk_passes_over_a_folder_that_vanishes(project: Project) -> None:
    for name in ("a", "b"):
        project.put(f"{name}/file", b"")
    walk = project.walk()
    assert next(walk).path == "a/file"
    project.remove("b", recursive=True)
    assert list(walk) == []


def test_threads_share_a_project(project: Project) -> None:
    threads = [threading.Thread(target=project.put, args=(f"folder/{n}", b"")) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(project.list("folder")) == 20


def test_copy_onto_a_folder_is_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    project.mkdir("folder")
    with pytest.raises(IsAFolder):
        project.copy_in(tmp_path / "file", "folder", overwrite=True)
