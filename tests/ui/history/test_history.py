"""The plain functions of History: filters, the list, one change, what may be said of an overlay."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from playground.config import SettingsError
from playground.events import Eval, Facts, Status
from playground.presets import Preset, load_preset
from playground.store import Belongings, Group, RunStore, Search
from playground.ui import history
from playground.ui.history import asking, manage, overlay
from playground.ui.history.asking import Listing
from playground.ui.text import history as text
from tests import fakes


def ended(store: RunStore, title: str, preset: Preset, environment: dict | None = None) -> Group:
    """A finished comparison, fair in itself."""
    group = store.create_group("quick", title, preset.configs, "1:1.0")
    for run in group.runs:
        told = fakes.facts(run.config)
        told = told.model_copy(update={"environment": environment or told.environment})
        last = Eval(step=5, when="after", loss=0.5, tokens=9)
        store.append(run.id, told, Facts(eval_sha256="e" * 64), fakes.step(5), last)
        store.append(run.id, Status(status="finished"))
    return store.get_group(group.id)


class TestFilters:
    def test_what_is_filled_in_is_asked_for(self) -> None:
        earlier = Search(by="title", descending=False)
        found = asking.search(earlier, "two words", "nvfp4", "", "2026-03-01", "2026-03-01")
        assert (found.words, found.precision, found.status) == ("two words", "nvfp4", None)
        assert (found.by, found.descending) == ("title", False)
        day = time.strptime("2026-03-01", "%Y-%m-%d")
        assert found.since == time.mktime(day)
        assert time.localtime(found.until)[:6] == (2026, 3, 2, 0, 0, 0)

    def test_empty_fields_ask_for_everything(self) -> None:
        assert asking.search(Search(), "", "", "", "", " ") == Search()

    @pytest.mark.parametrize("day", ["1.3.2026", "2026-02-30", "2026-13-01", "soon", "9" * 40])
    def test_a_day_that_is_none_is_one_sentence(self, day: str) -> None:
        with pytest.raises(SettingsError, match=f"To is '{day}'; write a day as 2026-01-31"):
            asking.search(Search(), "", "", "", "", day)

    def test_the_same_head_twice_turns_the_order_round(self) -> None:
        by_title = Listing(page=3).sorted_by("title")
        assert (by_title.search.by, by_title.search.descending, by_title.page) == (
            "title",
            False,
            0,
        )
        assert by_title.sorted_by("title").search.descending
        assert Listing().sorted_by("started").search.descending is False
        assert Listing().sorted_by("title; DROP TABLE runs") == Listing()


class TestList:
    def test_a_page_beyond_the_end_is_the_last(self, store: RunStore) -> None:
        for number in range(asking.PAGE + 1):
            store.create_group("quick", f"no {number}.", [fakes.config()], "1:1.0")
        listing, html = history.render(store, Listing(page=99))
        assert listing.page == 1
        assert "no 0." in html and "no 1." not in html
        assert f"{asking.PAGE + 1} to {asking.PAGE + 1} of {asking.PAGE + 1}" in html

    def test_an_empty_list_says_whether_a_filter_made_it_so(self, store: RunStore) -> None:
        assert text.EMPTY in history.render(store, Listing())[1]
        assert text.NOTHING_LIKE_IT in history.render(store, Listing(Search(words="x")))[1]

    def test_markup_in_names_and_notes_is_text(self, store: RunStore) -> None:
        group = store.create_group("quick", "<img src=x>", [fakes.config()], "1:1.0")
        store.annotate(group.id, "<img src=y>")
        assert "<img" not in history.render(store, Listing())[1]
        parts = manage.updates(store.get_group(group.id))
        assert "<img" not in parts[1]
        assert "<img" not in manage.goes(group, Belongings(1, 0, 0))

    def test_repetitions_are_folded_and_each_can_be_ticked(self, store: RunStore) -> None:
        preset = replace(fakes.preset("steady"), seeds=2)
        group = store.create_group("quick", "t", preset.configs, "1:1.0")
        html = history.render(store, Listing())[1]
        assert html.count("<details") == 2
        assert all(f'data-run="{run.id}"' in html for run in group.runs)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Belongings(1, 0, 0), "1 run with every step and figure, no adapter and 0.0 MB on disk"),
        (Belongings(6, 1, 1_234_567), "6 runs with every step and figure, 1 adapter and 1.2 MB"),
        (Belongings(2, 2, 2_000_000_000), "2 adapters and 2,000.0 MB"),
    ],
)
def test_the_question_names_what_goes(store: RunStore, found: Belongings, said: str) -> None:
    group = store.create_group("quick", "t", [fakes.config()], "1:1.0")
    assert said in manage.goes(group, found)


class TestOneChange:
    @pytest.fixture
    def group(self, store: RunStore) -> Group:
        preset = load_preset("quick", {"max_steps": "9"})
        return store.create_group("quick", "mine", preset.configs, "1:1.0")

    @pytest.mark.parametrize(
        ("key", "typed", "old", "new"),
        [
            ("max_steps", "7", "9", "7"),
            ("learning_rate", " 2e-4 ", "0.0015", "0.0002"),
            ("merge_check", "false", "true", "false"),
            ("schedule", "linear", "cosine", "linear"),
            ("target_loss", "0.1", "nothing", "0.1"),
            ("dataset", "iso-dates", "sentences-to-json", "iso-dates"),
            ("precisions", "fp32, NVFP4", "FP16, NVFP4", "FP32, NVFP4"),
            ("seeds", "3", "1", "3"),
        ],
    )
    def test_all_else_stays(
        self, store: RunStore, group: Group, key: str, typed: str, old: str, new: str
    ) -> None:
        assert manage.now(group, key, store.home) == old
        changed, said = manage.with_one_change(group, key, typed, store.home)
        label = manage.label_of(key)
        assert f"“mine”, with “{label}” {new} for {old}" in said
        before = load_preset("quick", {"max_steps": "9"})
        written = typed.lower() if key == "precisions" else typed
        assert replace(changed, title="") == replace(
            load_preset("quick", {"max_steps": "9", key: written}), title=""
        )
        assert changed != before

    @pytest.mark.parametrize(
        ("key", "typed", "said"),
        [
            (None, "7", "Change is empty"),
            ("title", "7", "Change is empty"),
            ("max_steps", "9", "is 9 already; give another value"),
            ("max_steps", "0,5", "max_steps is '0,5'"),
            ("precisions", "nvfp9", "nvfp9"),
            ("precisions", "", "Precisions is empty"),
            ("model", "tinny", "Did you mean 'tiny'"),
        ],
    )
    def test_what_cannot_be_is_one_sentence(
        self, store: RunStore, group: Group, key: str | None, typed: str, said: str
    ) -> None:
        with pytest.raises(SettingsError) as refused:
            manage.with_one_change(group, key, typed, store.home)
        assert said in str(refused.value)


class TestOverlay:
    def test_runs_of_one_comparison_differ_in_the_precision_alone(self, store: RunStore) -> None:
        group = ended(store, "t", fakes.preset("steady"))
        found = overlay.look(store, group.run_ids)
        assert overlay.banner(found.records) == ("info", text.ONLY_PRECISION)
        assert text.ENVIRONMENT_DIFFERS not in overlay.differences(found)

    def test_other_settings_are_named(self, store: RunStore) -> None:
        one = ended(store, "one", fakes.preset("steady"))
        other = ended(store, "other", fakes.preset("steady", steps=7), {"torch": "2.0"})
        found = overlay.look(store, [one.run_ids[0], other.run_ids[1]])
        kind, said = overlay.banner(found.records)
        assert kind == "warning"
        assert "differ in Precision, Steps, environment.torch: what the curves show" in said
        table = overlay.differences(found)
        assert "<td>5</td><td>7</td>" in table
        assert "<td>FP16</td><td>NVFP4</td>" in table
        assert "<td>none</td><td>2.0</td>" in table
        assert "Learning rate" not in table

    def test_seeds_alone_are_repetitions(self, store: RunStore) -> None:
        group = ended(store, "t", replace(fakes.preset("steady"), seeds=2))
        found = overlay.look(store, [group.run_ids[0], group.run_ids[2]])
        assert overlay.banner(found.records) == ("info", text.ALIKE)

    def test_equal_settings_are_not_enough(self, store: RunStore) -> None:
        groups = [ended(store, "t", fakes.preset("steady")) for _ in range(2)]
        ids = [groups[0].run_ids[0], groups[1].run_ids[1]]
        store.append(ids[1], Facts(batches_sha256="0" * 64))
        kind, said = overlay.banner(overlay.look(store, ids).records)
        assert kind == "warning" and "the arms saw different batches" in said

    def test_nothing_is_read_again_while_nothing_is_new(self, store: RunStore) -> None:
        group = store.create_group("quick", "t", fakes.preset("steady").configs, "1:1.0")
        found = overlay.look(store, group.run_ids)
        assert found.live
        assert overlay.look(store, group.run_ids, found.tokens) is None
        store.append(group.run_ids[0], fakes.step(1))
        assert overlay.look(store, group.run_ids, found.tokens) is not None

    def test_addresses_that_name_no_overlay_say_so(self, store: RunStore) -> None:
        group = ended(store, "t", fakes.preset("steady"))
        for ids in ("", group.run_ids[0], ",".join(f"r-{n}" for n in range(9))):
            found = overlay.look(store, overlay.ids_of(ids))
            assert "tick two to eight" in found.problem
            assert overlay.payload(found) is None
        gone = overlay.look(store, [group.run_ids[0], "r-<b>"])
        assert "for 1 were deleted" in gone.problem and "<b>" not in overlay.heading(gone)

    def test_what_was_deleted_is_left_out_and_said(self, store: RunStore) -> None:
        group = ended(store, "t", fakes.preset("steady"))
        found = overlay.look(store, [group.run_ids[0], "r-gone", group.run_ids[1]])
        assert list(found.run_ids) == group.run_ids and "1 more in the address" in overlay.heading(
            found
        )


def test_a_deleted_comparison_is_said_to_be_gone_where_it_was_shown(store: RunStore) -> None:
    from playground.ui.watch import Seen, look

    group = ended(store, "t", fakes.preset("steady"))
    seen = look(store, group.id, Seen()).seen
    store.delete(group.id)
    scene = look(store, group.id, seen)
    assert scene.group is None
    assert scene.problem == f"Comparison “{group.id}” was deleted; open History and pick another."
