(** Writes [samplers.ml] and [samplers.mli]: the draw by inversion, and the draw by noise that is
    compared bit by bit with the bounds of exponential and of Gumbel noise. *)

Require Import Inversion LazyDistribution ExponentialNoise GumbelNoise.
Require Extraction.
Require Import ExtrOcamlBasic.

Extraction "samplers.ml" of_bounds resume drawn exponential_bound gumbel_bound.
