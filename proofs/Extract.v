(** Writes [inversion.ml] and [inversion.mli], the program of Inversion.v. *)

Require Import Inversion.
Require Extraction.
Require Import ExtrOcamlBasic.

Extraction "inversion.ml" of_bounds resume.
