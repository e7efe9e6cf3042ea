(** Writes [samplers.ml] and [samplers.mli], the programs of Inversion.v and ExponentialNoise.v. *)

Require Import Inversion ExponentialNoise.
Require Extraction.
Require Import ExtrOcamlBasic.

Extraction "samplers.ml" of_bounds resume permute_and_flip_drawn.
