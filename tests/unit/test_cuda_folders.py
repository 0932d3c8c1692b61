"""Where CUPTI is looked for."""

from pathlib import Path

from rlscope.capture.cuda import cupti_folders, variable


def test_folders_of_both_layouts_are_found_in_order(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    (first / "nvidia/cuda_cupti/lib").mkdir(parents=True)
    (second / "nvidia/cu13/lib").mkdir(parents=True)
    (tmp_path / "third/nvidia").mkdir(parents=True)
    paths = ["", str(second), str(tmp_path / "third"), str(first), str(tmp_path / "absent")]
    assert cupti_folders(paths) == [
        str(second / "nvidia/cu13/lib"),
        str(first / "nvidia/cuda_cupti/lib"),
    ]


def test_own_folders_come_first_and_once(tmp_path: Path) -> None:
    own = tmp_path / "nvidia/cu13/lib"
    own.mkdir(parents=True)
    before = f"/opt/cupti:{own}"
    assert variable([str(tmp_path)], before) == f"{own}:/opt/cupti"


def test_a_folder_that_the_list_cannot_hold_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a:b/nvidia/cu13/lib").mkdir(parents=True)
    assert cupti_folders([str(tmp_path / "a:b")]) == []
