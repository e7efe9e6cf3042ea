(** The two draws on the scores of local dampening, from admissibility to epsilon-DP. *)

Require Import Reals List.
Require Import UnitScores PermuteAndFlip Dampening.
Import ListNotations.
Open Scope R_scope.

Section Private.
  Context {X C : Type} (near : X -> X -> Prop) (candidates : list C) (epsilon : R).
  Context (u : X -> C -> R) (delta : X -> C -> nat -> R) (longest : nat).

  Hypothesis epsilon_pos : 0 < epsilon.
  Hypothesis near_sym : forall x y, near x y -> near y x.
  Hypothesis delta_nonneg : forall x r t, 0 <= delta x r t.
  Hypothesis covers_local : forall x y r, near x y -> Rabs (u x r - u y r) <= delta x r 0.
  Hypothesis covers_neighbours :
    forall x y r t, near x y -> delta y r t <= delta x r (S t).

  Lemma near_unit_step x y (s t : C -> R) :
    near x y -> (forall r, Rabs (s r - t r) <= 1) -> unit_step candidates s t.
  Proof.
    intros _ H. exists 0. intros r _. rewrite Rminus_0_r. apply H.
  Qed.

  Lemma dampened_unit_step x y (s t : C -> R) :
    near x y ->
    (forall r, dampens_score longest (delta x r) (u x r) (s r)) ->
    (forall r, dampens_score longest (delta y r) (u y r) (t r)) ->
    unit_step candidates s t.
  Proof.
    intros N Ds Dt. apply (near_unit_step x y); [assumption|]. intros r.
    apply (dampened_scores_are_unit_scores near (fun z => u z r) (fun z => delta z r))
      with (longest := longest) (x := x) (y := y); auto.
  Qed.

  (** Farias et al. 2023, Theorem 3. *)
  Theorem local_dampening_is_private x y (s t : C -> R) r :
    near x y -> In r candidates ->
    (forall q, dampens_score longest (delta x q) (u x q) (s q)) ->
    (forall q, dampens_score longest (delta y q) (u y q) (t q)) ->
    exponential candidates epsilon s r <= exp epsilon * exponential candidates epsilon t r.
  Proof.
    intros N R Ds Dt. apply exponential_is_private; auto.
    apply (dampened_unit_step x y); assumption.
  Qed.

  (** Permute-and-flip on dampened scores; [r] and [others] are the candidates. *)
  Theorem dampened_permute_and_flip_is_private x y (s t : C -> R) r others a b :
    near x y -> candidates = r :: others ->
    (forall q, dampens_score longest (delta x q) (u x q) (s q)) ->
    (forall q, dampens_score longest (delta y q) (u y q) (t q)) ->
    is_top others r s a -> is_top others r t b ->
    permute_and_flip others r epsilon s a
    <= exp epsilon * permute_and_flip others r epsilon t b.
  Proof.
    intros N E Ds Dt A B. apply permute_and_flip_is_private; auto.
    rewrite <- E. apply (dampened_unit_step x y); assumption.
  Qed.

  Context (Delta : R) (horizon : nat).
  Hypothesis Delta_pos : 0 < Delta.
  Hypothesis capped : forall x r t, delta x r t <= Delta.
  Hypothesis at_horizon : forall x r, delta x r horizon = Delta.

  Definition shifted_score (x : X) (r : C) : R :=
    shifted_down (fun z => u z r) (fun z => delta z r) Delta horizon x.

  (** Farias et al. 2023, Definition 15 in closed form. *)
  Theorem shifted_local_dampening_is_private x y r :
    near x y -> In r candidates ->
    exponential candidates epsilon (shifted_score x) r
    <= exp epsilon * exponential candidates epsilon (shifted_score y) r.
  Proof.
    intros N R. apply exponential_is_private; auto.
    apply (near_unit_step x y); [assumption|]. intros q.
    apply (shifted_scores_are_unit_scores near (fun z => u z q) (fun z => delta z q));
      auto.
  Qed.
End Private.

Print Assumptions local_dampening_is_private.
Print Assumptions dampened_permute_and_flip_is_private.
Print Assumptions shifted_local_dampening_is_private.
