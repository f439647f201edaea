"""The journal: what is written is read, what was torn is passed over, what is something else is refused."""

from __future__ import annotations

import pytest

from experiments.journal import Journal


def test_entries_are_read_back_in_order(tmp_path):
    path = tmp_path / "new" / "folder" / "j.jsonl"
    journal = Journal(path)
    for k in range(3):
        journal.append({"k": k, "value": 0.1 * k})
    assert Journal(path).entries == journal.entries == [{"k": k, "value": 0.1 * k} for k in range(3)]


def test_a_torn_line_is_passed_over_and_does_not_spoil_the_next(tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_text('{"k": 0}\n{"k": 1, "val')
    Journal(path).append({"k": 2})
    assert Journal(path).entries == [{"k": 0}, {"k": 2}]


def test_the_last_result_of_an_identity_is_found(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    identity = {"set": "a", "settings": {"C": 1, "D": 2}}
    assert journal.result(identity) is None
    journal.append({"set": "a", "settings": {"D": 2, "C": 1}, "value": 1})
    journal.append({"set": "a", "settings": {"C": 1, "D": 2}, "value": 2})
    journal.append({"set": "a", "settings": {"C": 1, "D": 2}, "error": "no luck"})
    assert journal.result(identity)["value"] == 2
    assert journal.result({"set": "a", "settings": {"C": 1}}) is None


def test_a_failure_is_no_result(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    journal.append({"k": 0, "error": "no luck"})
    assert journal.result({"k": 0}) is None


@pytest.mark.parametrize(
    "line, word",
    [("[1]", "no entry"), ('{"settings": "x"}', "no unit"), ('{"unit": {}}', "no settings")],
)
def test_a_line_that_is_no_entry_is_told_by_file_and_number(tmp_path, line, word):
    (tmp_path / "j.jsonl").write_text('{"unit": "torn\n' + line + "\n")
    with pytest.raises(ValueError, match=rf"j.jsonl, line 2: {word}"):
        Journal(tmp_path / "j.jsonl", required=("unit", "settings"))
