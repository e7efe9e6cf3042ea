"""Each sentence of what ``docs/privacy.md`` promises, and the test that holds it.

A sentence, of the prose before what is out of scope, is known by its first words. It fails here
if it is new, if its first words change, or if its test is gone. Whether a test holds all that a
sentence says is for the reader to judge.
"""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "privacy.md"

HELD = """
audit/test_replay.py::test_no_release_uses_more_than_its_plan_states
    A release of dpselect at | Releases whose plan states
test_conventions.py::test_prices_and_relations_have_no_default  Every objective, plan
tables/test_where.py::test_no_rows_are_selected_where_one_may_be_replaced  How many rows `where`
test_refusals.py::test_it_is_refused  If one is missing, the error
test_odd_input.py::test_odd_arguments_end_in_errors_of_ours_before_anything_is_spent
    Problems of the schema
trees/test_id3.py::test_each_defect_is_repaired_or_raises_where_the_curator_says_so
    Problems of private values
mechanisms/test_query_options.py::test_what_can_be_asked_for_costs_what_the_plan_states
mechanisms/test_query_options.py::test_no_query_is_told_what_one_individual_changes
    A query computes its own | Of the options of a
percentiles/test_intervals.py::test_values_are_in_the_ledger_when_their_intervals_are_interrupted
    If a release raises or
percentiles/test_percentile.py::test_each_record_is_repaired_by_itself
    A repair maps each record
requests/test_policy.py::test_no_request_makes_data_raise  An exception is an output
test_odd_input.py::test_only_errors_of_ours_and_nothing_private  Error messages contain no
tables/test_odd_records.py::test_a_record_of_a_tree  No record affects
tables/test_opening.py::test_a_column_of_text_is_refused_without_its_values
    The type of a column is
tables/test_odd_records.py::test_a_number_of_a_list  Containers without types
tables/test_opening.py::test_a_field_that_is_no_number_is_a_missing_one
    There a value that is not
audit/test_public_claims.py::test_a_degree_above_the_claim_raises_without_a_number
audit/test_public_claims.py::test_records_beyond_the_claim_raise_without_a_number
maps/test_error_measures.py::test_more_points_than_a_measure_declares_are_refused
    If the data contradict | - **No degree is above | - **At most `max_ | - **At most `most_
requests/test_claims.py::test_an_analyst_states_nothing_of_the_data  Whoever may choose a claim
requests/test_claims.py::test_row_numbers_are_a_claim_as_well  - **Labels are public
tables/test_where.py::test_times_and_short_floats_are_compared_as_their_columns_hold_them
    Public numbers that are
percentiles/test_percentiles.py::test_another_number_of_records_than_is_declared_is_refused
    - **`records` is the number
networks/test_edge_files.py::test_a_damaged_file_is_refused_without_a_word_of_it
maps/test_geo_files.py::test_a_file_that_cannot_be_read_is_refused_before_the_charge
    - **A file of a graph | Whoever reads it
requests/test_claims.py::test_how_a_text_file_is_written_is_a_claim_as_well
tables/test_text.py::test_a_first_line_that_is_no_header_is_refused_in_no_words_of_it
    - **A text file is written
tables/test_text.py::test_fields_are_those_of_the_rule
    A record ends with LF | Where marks quote, a | So blocks in which they
tables/test_text.py::test_a_record_of_such_a_writer_changes_no_other  All other marks, lone
tables/test_opening.py::test_a_file_that_cannot_be_read_is_named
cli/test_files.py::test_an_odd_line_is_repeated_nowhere
tables/test_text.py::test_fields_are_those_of_the_rule  What contradicts that (text
tables/test_text.py::test_without_quotation_any_line_changes_no_other  With `quote=
tables/test_formats.py::test_lines_of_json_are_read_one_by_one
tables/test_formats.py::test_cells_of_a_workbook_are_text_below_the_lines_above_its_header
    - **The keys of the first
tables/test_messages.py::test_a_query_that_fails_is_not_quoted
    - **The query of a lazy | Our error does not quote
test_number_door.py::test_what_is_no_number_is_refused  - **Scores are finite
test_refusals.py::test_it_is_refused
    Global bounds are from | - **A subset of people | - **Queries of `AboveThreshold`
audit/test_public_claims.py::test_no_rule_can_drop_a_record_too_many
audit/test_public_claims.py::test_no_rule_can_drop_an_edge_too_many
    The first three cannot | For such a table
tables/test_engine_types.py::test_every_type_has_the_same_counts_or_is_refused
    - **All engines compare
tables/test_engine_types.py::test_a_collation_decides_no_comparison  Texts are compared by
tuning/test_train_validation.py::test_different_records_are_different
    - **A search distinguishes
tuning/test_search.py::test_a_neighbour_step_changes_one_part_by_one_record
    Under substitution records
test_copies.py::test_what_is_used_once_is_used_for_every_copy
test_copies.py::test_a_fork_has_no_right_of_its_own  - **What is paid for once
test_copies.py::test_no_repr_shows_a_record  No `repr` shows
test_parallel.py::test_a_person_who_is_in_several_parts_pays_for_all_of_them
    - **A person in several
test_steps.py::test_no_loop_is_as_long_as_a_gap  - **No loop is as long | The number of visited
test_query.py::test_a_check_reads_nothing_and_a_plan_needs_no_data
test_contract.py::test_a_neighbour_is_released_by_the_same_plan  A plan is computed
test_contract.py::test_it_spends_once_before_it_draws_and_what_its_plan_says
    It states the steps | The budget is charged
cli/test_command.py::test_a_dry_run_reads_no_row  `--dry-run` prints it
scaling/test_precision.py::test_by_global_errs_by_what_the_grid_pays_for
scaling/test_precision.py::test_dampened_errs_by_what_the_grid_pays_for  Scores are rounded to
draws/exact/test_lazy_noise.py::test_bounds_by_floats_hold_for_every_continuation_of_the_bits
    The draw from the grid | So each comparison has
draws/test_opendp.py::test_opendp_draws_by_the_same_law  The tests draw the same
test_number_door.py::test_any_scores_are_drawn_from_exactly
    Scores can be floats | Differences are computed
test_layout.py::test_randomness_has_one_source  Only `dpselect.draws.exact.bits`
test_release.py::test_a_simulation_says_that_it_is_not_private  `simulate` uses a NumPy
"""

ARGUED = """
words that are defined, or advice
    An epsilon means nothing | A record is one row | If a person can have | See [budgets]
what readers hold themselves
    Candidates and their number | None of them may be derived | What cannot be repaired record
    - **The types of a frame | Pass the path of the file | - **Rows of a list have
    - **The people who collect
an argument that stands there
    A neighbouring database may | The default, the number of nodes | Neighbours do not change
    A repair would have to | A table with $N + 1$ records | Other readers toggle at every
"""

TEST = re.compile(r"(\S+\.py)::(\w+)")


def sentences():
    """Return the sentences of the prose before what is out of scope."""
    page = PAGE.read_text(encoding="utf-8").partition("## What is out of scope")[0]
    page = re.sub(r"<figure.*?</figure>", "", page, flags=re.DOTALL)
    blocks = re.split(r"\n\s*\n|\n(?=- )", page)
    prose = [" ".join(one.split()) for one in blocks if one and not one.startswith(("#", "|"))]
    ends = r"(?<=[.:])\s+(?=[A-Z`])"
    return [one for block in prose for one in re.split(ends, block)]


def test_each_sentence_is_held_by_a_test_or_said_to_be_argued():
    argued = [line for line in ARGUED.splitlines() if line.startswith("    ")]
    words = re.split(r"\n|\|", TEST.sub("", HELD)) + " | ".join(argued).split(" | ")
    known = [one.strip() for one in words if one.strip()]
    found = [[one for one in known if sentence.startswith(one)] for sentence in sentences()]

    assert [said for said, ones in zip(sentences(), found, strict=True) if len(ones) != 1] == []
    assert sorted(one for ones in found for one in ones) == sorted(known)


def test_every_test_that_is_named_exists():
    for path, name in TEST.findall(HELD):
        nodes = ast.walk(ast.parse((TESTS / path).read_text(encoding="utf-8")))

        assert name in {one.name for one in nodes if isinstance(one, ast.FunctionDef)}, path
