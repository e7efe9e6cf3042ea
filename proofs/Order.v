(** Scores that compare candidates with each other, and permute-and-flip compared with the
    exponential mechanism. *)

Require Import Reals List Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
Require Import UnitScores PermuteAndFlip Dampening.
Import ListNotations.
Open Scope R_scope.

(** ** Minima and maxima of unit scores *)

(** The least of [f] over [c] and [l]. *)
Fixpoint least {C : Type} (f : C -> R) (c : C) (l : list C) : R :=
  match l with
  | [] => f c
  | d :: rest => Rmin (f d) (least f c rest)
  end.

Definition largest {C : Type} (f : C -> R) (c : C) (l : list C) : R :=
  - least (fun d => - f d) c l.

Lemma Rmin_step a b c d k :
  Rabs (a - c) <= k -> Rabs (b - d) <= k -> Rabs (Rmin a b - Rmin c d) <= k.
Proof.
  intros H1 H2. apply Rabs_le_between in H1. apply Rabs_le_between in H2. apply Rabs_le.
  unfold Rmin. destruct (Rle_dec a b); destruct (Rle_dec c d); lra.
Qed.

Theorem least_of_unit_scores {C : Type} (f g : C -> R) (c : C) (l : list C) (k : R) :
  (forall d, In d (c :: l) -> Rabs (f d - g d) <= k) ->
  Rabs (least f c l - least g c l) <= k.
Proof.
  induction l as [|d l IH]; simpl; intros H.
  - apply H; left; reflexivity.
  - apply Rmin_step; [apply H; tauto|]. apply IH. intros e [E|E]; apply H; [tauto|].
    right; right; exact E.
Qed.

Theorem largest_of_unit_scores {C : Type} (f g : C -> R) (c : C) (l : list C) (k : R) :
  (forall d, In d (c :: l) -> Rabs (f d - g d) <= k) ->
  Rabs (largest f c l - largest g c l) <= k.
Proof.
  intros H. unfold largest.
  replace (- least (fun d => - f d) c l - - least (fun d => - g d) c l)
    with (- (least (fun d => - f d) c l - least (fun d => - g d) c l)) by ring.
  rewrite Rabs_Ropp. apply least_of_unit_scores. intros d D.
  replace (- f d - - g d) with (- (f d - g d)) by ring. rewrite Rabs_Ropp. auto.
Qed.

(** ** Anchored and pairwise local dampening *)

Section Pairwise.
  Context {X C : Type} (near : X -> X -> Prop) (u : X -> C -> R) (delta : X -> C -> nat -> R).
  Context (longest : nat).
  Hypothesis near_sym : forall x y, near x y -> near y x.
  Hypothesis delta_nonneg : forall x r t, 0 <= delta x r t.
  Hypothesis covers_local : forall x y r, near x y -> Rabs (u x r - u y r) <= delta x r 0.
  Hypothesis covers_neighbours :
    forall x y r t, near x y -> delta y r t <= delta x r (S t).

  (** The dampened distance to a public number [a]. *)
  Theorem anchored_scores_are_unit_scores a x y r v w :
    near x y -> dampens_score longest (delta x r) (u x r - a) v ->
    dampens_score longest (delta y r) (u y r - a) w -> Rabs (v - w) <= 1.
  Proof.
    apply (dampened_scores_are_unit_scores near (fun z => u z r - a) (fun z => delta z r)); auto.
    intros p q H. replace (u p r - a - (u q r - a)) with (u p r - u q r) by ring. auto.
  Qed.

  (** [v q] is the dampened lead of [r] over the rival [q]. *)
  Definition leads (x : X) (r : C) (v : C -> R) : Prop :=
    forall q, dampens_score longest (fun t => delta x r t + delta x q t) (u x r - u x q) (v q).

  (** The least lead of [r] over its rivals [c] and [l] is a unit score. *)
  Theorem pairwise_scores_are_unit_scores x y r (v w : C -> R) c l :
    near x y -> leads x r v -> leads y r w -> Rabs (least v c l - least w c l) <= 1.
  Proof.
    intros N V W. apply least_of_unit_scores. intros q _.
    apply (dampened_scores_are_unit_scores near (fun z => u z r - u z q)
             (fun z t => delta z r t + delta z q t))
        with (longest := longest) (x := x) (y := y); auto.
    - intros z t. pose proof (delta_nonneg z r t). pose proof (delta_nonneg z q t). lra.
    - intros a b H. pose proof (covers_local a b r H) as R1. pose proof (covers_local a b q H) as R2.
      apply Rabs_le_between in R1. apply Rabs_le_between in R2. apply Rabs_le. lra.
    - intros a b t H. pose proof (covers_neighbours a b r t H).
      pose proof (covers_neighbours a b q t H). lra.
  Qed.
End Pairwise.

(** ** The margin *)

Section Margin.
  Context {C I : Type} (u v : I -> C -> R) (bound : I -> C -> R).
  Hypothesis bound_pos : forall i r, 0 < bound i r.
  Hypothesis steps : forall i r, Rabs (u i r - v i r) <= bound i r.

  (** By how many steps the rival [q] is ahead of [r] in the objective [i]. *)
  Definition ahead (w : I -> C -> R) (r q : C) (i : I) : R :=
    (w i q - w i r) / (bound i r + bound i q).

  (** Minus the largest lead of a rival in all objectives at once. *)
  Definition margin (w : I -> C -> R) (r : C) (i0 : I) (objectives : list I)
      (q0 : C) (rivals : list C) : R :=
    - largest (fun q => least (ahead w r q) i0 objectives) q0 rivals.

  Theorem margins_are_unit_scores r i0 objectives q0 rivals :
    Rabs (margin u r i0 objectives q0 rivals - margin v r i0 objectives q0 rivals) <= 1.
  Proof.
    unfold margin.
    set (a := largest (fun q => least (ahead u r q) i0 objectives) q0 rivals).
    set (b := largest (fun q => least (ahead v r q) i0 objectives) q0 rivals).
    replace (- a - - b) with (- (a - b)) by ring. rewrite Rabs_Ropp.
    apply largest_of_unit_scores. intros q _. apply least_of_unit_scores. intros i _.
    unfold ahead. apply global_scores_are_unit_scores.
    - pose proof (bound_pos i r). pose proof (bound_pos i q). lra.
    - pose proof (steps i r) as R1. pose proof (steps i q) as R2.
      apply Rabs_le_between in R1. apply Rabs_le_between in R2. apply Rabs_le. lra.
  Qed.
End Margin.

(** ** The mean place at which a product of refusals is left *)

Definition moment (m : list R) : R := RInt (fun z => z * refused m z) 0 1.

Lemma moment_integrable m : ex_RInt (fun z => z * refused m z) 0 1.
Proof.
  apply (ex_RInt_continuous (fun z => z * refused m z)). intros z _.
  apply (continuous_mult (fun z => z) (refused m)); [apply continuous_id|].
  apply refused_continuous.
Qed.

Lemma share_cons p m : share (p :: m) = share m - p * moment m.
Proof.
  unfold share, moment. apply is_RInt_unique. simpl.
  apply (is_RInt_ext (fun z => minus (refused m z) (scal p (z * refused m z)))).
  - intros z _. unfold minus, plus, opp, scal; simpl. unfold mult; simpl. ring.
  - apply (is_RInt_minus (refused m)).
    + apply (RInt_correct (refused m)). apply refused_integrable.
    + apply (is_RInt_scal (fun z => z * refused m z)).
      apply (RInt_correct (fun z => z * refused m z)). apply moment_integrable.
Qed.

Lemma refused_falls m y z :
  (forall p, In p m -> 0 <= p <= 1) -> 0 <= y <= z -> z <= 1 ->
  refused m z <= refused m y.
Proof.
  intros H Y Z. induction m as [|p m IH]; simpl; [lra|].
  assert (P : 0 <= p <= 1) by (apply H; left; reflexivity).
  assert (M : forall q, In q m -> 0 <= q <= 1) by (intros; apply H; right; assumption).
  assert (0 <= refused m z <= 1) by (apply refused_range; [lra|assumption]).
  specialize (IH M). apply Rmult_le_compat; nra.
Qed.

Lemma share_empty : share [] = 1.
Proof.
  unfold share. simpl. rewrite RInt_const. unfold scal; simpl; unfold mult; simpl. ring.
Qed.

(** The product falls with z, so its mean place is at most the middle. *)
Lemma moment_at_most_half m :
  (forall p, In p m -> 0 <= p <= 1) -> 0 <= moment m /\ 2 * moment m <= share m.
Proof.
  intros H. split.
  - unfold moment. apply RInt_ge_0; [lra|apply moment_integrable|]. intros z Z.
    assert (0 <= refused m z <= 1) by (apply refused_range; [lra|assumption]). nra.
  - assert (Two : share [2] = 0).
    { assert (E : (1 + 1) * share [2] = 1 + ((1 - 2) * share [] + 0))
        by exact (share_recursion [2]).
      rewrite share_empty in E. lra. }
    assert (E : refused m (1 / 2) * share [2] <= share (2 :: m)).
    { unfold share.
      replace (refused m (1 / 2) * RInt (refused [2]) 0 1)
        with (RInt (fun z => scal (refused m (1 / 2)) (refused [2] z)) 0 1).
      - apply RInt_le; [lra| |apply refused_integrable|].
        + apply (ex_RInt_scal (refused [2]) 0 1). apply refused_integrable.
        + intros z Z. unfold scal; simpl; unfold mult; simpl.
          destruct (Rle_lt_dec z (1 / 2)) as [B|A].
          * assert (refused m (1 / 2) <= refused m z) by (apply refused_falls; auto; lra).
            nra.
          * assert (refused m z <= refused m (1 / 2)) by (apply refused_falls; auto; lra).
            nra.
      - apply (RInt_scal (refused [2]) 0 1 (refused m (1 / 2))). apply refused_integrable. }
    rewrite Two, share_cons in E. lra.
Qed.

(** ** Permute-and-flip between two exponential mechanisms *)

Section Sandwich.
  Context {C : Type} (q r : C) (rest : list C) (epsilon : R) (s : C -> R) (top : R).
  Hypothesis epsilon_pos : 0 < epsilon.
  Hypothesis below_top : forall j, In j (q :: r :: rest) -> s j <= top.

  Lemma acceptance j : In j (q :: r :: rest) -> 0 <= accept epsilon s top j <= 1.
  Proof.
    intros J. unfold accept. split; [left; apply exp_pos|].
    rewrite <- exp_0. apply exp_le. specialize (below_top j J). nra.
  Qed.

  (** Permute-and-flip's odds of the better of two candidates against the worse one are at
      least those of the exponential mechanism: the likelihood ratio grows with the score. *)
  Theorem permute_and_flip_beats_exponential :
    s q <= s r ->
    permute_and_flip (r :: rest) q epsilon s top * weight epsilon s r
    <= permute_and_flip (q :: rest) r epsilon s top * weight epsilon s q.
  Proof.
    intros L. unfold permute_and_flip.
    rewrite !reached_is_share by (rewrite map_length; reflexivity). simpl map.
    set (p := accept epsilon s top). set (m := map p rest).
    assert (Q : 0 <= p q <= 1) by (apply acceptance; simpl; tauto).
    assert (R : 0 <= p r <= 1) by (apply acceptance; simpl; tauto).
    assert (PQ : p q <= p r) by (unfold p, accept; apply exp_le; nra).
    assert (S : share (p r :: m) <= share (p q :: m)).
    { unfold share. apply RInt_le; [lra|apply refused_integrable|apply refused_integrable|].
      intros z Z. simpl.
      assert (0 <= refused m z <= 1).
      { apply refused_range; [lra|]. intros a A. apply in_map_iff in A.
        destruct A as [j [E J]]. subst a. apply acceptance. simpl; tauto. }
      apply Rmult_le_compat_r; [tauto|nra]. }
    assert (W : forall j, weight epsilon s j = p j * exp (epsilon / 2 * top)).
    { intros j. unfold weight, p, accept. rewrite <- exp_plus. f_equal. ring. }
    rewrite !W. assert (K : 0 < exp (epsilon / 2 * top)) by apply exp_pos.
    replace (p q * share (p r :: m) * (p r * exp (epsilon / 2 * top)))
      with (p q * p r * exp (epsilon / 2 * top) * share (p r :: m)) by ring.
    replace (p r * share (p q :: m) * (p q * exp (epsilon / 2 * top)))
      with (p q * p r * exp (epsilon / 2 * top) * share (p q :: m)) by ring.
    apply Rmult_le_compat_l; [|assumption].
    apply Rmult_le_pos; [apply Rmult_le_pos; tauto|lra].
  Qed.

  (** And at most those of the exponential mechanism at twice epsilon. *)
  Theorem permute_and_flip_below_twice_epsilon :
    s q <= s r ->
    permute_and_flip (q :: rest) r epsilon s top * weight (2 * epsilon) s q
    <= permute_and_flip (r :: rest) q epsilon s top * weight (2 * epsilon) s r.
  Proof.
    intros L. unfold permute_and_flip.
    rewrite !reached_is_share by (rewrite map_length; reflexivity). simpl map.
    set (p := accept epsilon s top). set (m := map p rest). rewrite !share_cons.
    assert (Q : 0 <= p q <= 1) by (apply acceptance; simpl; tauto).
    assert (R : 0 <= p r <= 1) by (apply acceptance; simpl; tauto).
    assert (PQ : p q <= p r) by (unfold p, accept; apply exp_le; nra).
    assert (M : 0 <= moment m /\ 2 * moment m <= share m).
    { apply moment_at_most_half. intros a A. apply in_map_iff in A.
      destruct A as [j [E J]]. subst a. apply acceptance. simpl; tauto. }
    assert (W : forall j, weight (2 * epsilon) s j
                          = p j * p j * exp (epsilon * top)).
    { intros j. unfold weight, p, accept. rewrite <- !exp_plus. f_equal. lra. }
    rewrite !W. assert (K : 0 < exp (epsilon * top)) by apply exp_pos.
    assert (D : p q * (share m - p q * moment m) <= p r * (share m - p r * moment m)).
    { assert (0 <= (p r - p q) * (share m - (p r + p q) * moment m)).
      { apply Rmult_le_pos; [lra|]. nra. }
      nra. }
    replace (p r * (share m - p q * moment m) * (p q * p q * exp (epsilon * top)))
      with (p r * p q * exp (epsilon * top) * (p q * (share m - p q * moment m))) by ring.
    replace (p q * (share m - p r * moment m) * (p r * p r * exp (epsilon * top)))
      with (p r * p q * exp (epsilon * top) * (p r * (share m - p r * moment m))) by ring.
    apply Rmult_le_compat_l; [|assumption].
    apply Rmult_le_pos; [apply Rmult_le_pos; tauto|lra].
  Qed.
End Sandwich.

Print Assumptions pairwise_scores_are_unit_scores.
Print Assumptions margins_are_unit_scores.
Print Assumptions permute_and_flip_beats_exponential.
Print Assumptions permute_and_flip_below_twice_epsilon.
