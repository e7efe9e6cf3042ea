(** Unit scores, the exponential mechanism and local dampening on finite candidate sets.

    A database is a point of any type [X]; [near x y] says that x and y are neighbours.
    A score function is [u : X -> C -> R] for candidates [C]. Scores are *unit scores* if one
    neighbour step moves each by at most 1, up to a translation common to all candidates. *)

Require Import Reals List Lra Lia.
Import ListNotations.
Open Scope R_scope.

Lemma exp_le (x y : R) : x <= y -> exp x <= exp y.
Proof. intros [L|E]; [left; apply exp_increasing; assumption | right; f_equal; assumption]. Qed.

Lemma Rabs_le_between (x y : R) : Rabs x <= y -> - y <= x /\ x <= y.
Proof. unfold Rabs; destruct (Rcase_abs x); lra. Qed.

Section Sums.
  Context {C : Type}.

  Fixpoint total (f : C -> R) (l : list C) : R :=
    match l with
    | [] => 0
    | c :: rest => f c + total f rest
    end.

  Lemma total_le (f g : C -> R) (l : list C) :
    (forall c, In c l -> f c <= g c) -> total f l <= total g l.
  Proof.
    induction l as [|c l IH]; simpl; intros H; [lra|].
    assert (f c <= g c) by (apply H; left; reflexivity).
    assert (total f l <= total g l) by (apply IH; intros; apply H; right; assumption).
    lra.
  Qed.

  Lemma total_scale (k : R) (f : C -> R) (l : list C) :
    total (fun c => k * f c) l = k * total f l.
  Proof. induction l as [|c l IH]; simpl; [|rewrite IH]; lra. Qed.

  Lemma total_nonneg (f : C -> R) (l : list C) :
    (forall c, In c l -> 0 <= f c) -> 0 <= total f l.
  Proof.
    induction l as [|c l IH]; simpl; intros H; [lra|].
    assert (0 <= f c) by (apply H; left; reflexivity).
    assert (0 <= total f l) by (apply IH; intros; apply H; right; assumption).
    lra.
  Qed.

  Lemma total_pos (f : C -> R) (l : list C) (c : C) :
    In c l -> (forall d, 0 < f d) -> 0 < total f l.
  Proof.
    destruct l as [|d l]; simpl; [tauto|intros _ H].
    assert (0 < f d) by apply H.
    assert (0 <= total f l) by (apply total_nonneg; intros; apply Rlt_le, H).
    lra.
  Qed.
End Sums.

(** Scores of one database and of its neighbour that differ by at most 1, up to [c]. *)
Definition unit_step {C : Type} (l : list C) (s t : C -> R) : Prop :=
  exists c, forall r, In r l -> Rabs (s r - t r - c) <= 1.

Lemma unit_step_sym {C : Type} (l : list C) (s t : C -> R) :
  unit_step l s t -> unit_step l t s.
Proof.
  intros [c H]; exists (- c); intros r Hr.
  replace (t r - s r - - c) with (- (s r - t r - c)) by lra.
  rewrite Rabs_Ropp; auto.
Qed.

(** ** The exponential mechanism *)

Section Exponential.
  Context {C : Type} (l : list C) (epsilon : R).
  Hypothesis epsilon_pos : 0 < epsilon.

  Definition weight (s : C -> R) (r : C) : R := exp (epsilon / 2 * s r).

  (** The probability of candidate [r]. *)
  Definition exponential (s : C -> R) (r : C) : R := weight s r / total (weight s) l.

  Lemma weight_pos s r : 0 < weight s r.
  Proof. apply exp_pos. Qed.

  Theorem exponential_is_a_distribution s r0 :
    In r0 l -> total (exponential s) l = 1 /\ forall r, 0 < exponential s r.
  Proof.
    intros Hr0. assert (H : 0 < total (weight s) l)
      by (apply (total_pos _ _ r0); auto; intro; apply weight_pos).
    split.
    - transitivity (/ total (weight s) l * total (weight s) l).
      + rewrite <- total_scale. unfold exponential, Rdiv.
        generalize (/ total (weight s) l). intros k.
        clear. induction l as [|c rest IH]; simpl; [reflexivity|rewrite IH; lra].
      + field; lra.
    - intros r. apply Rdiv_lt_0_compat; [apply weight_pos|assumption].
  Qed.

  Theorem exponential_is_private s t r :
    unit_step l s t -> In r l -> exponential s r <= exp epsilon * exponential t r.
  Proof.
    intros [c H] Hr.
    assert (Hs : 0 < total (weight s) l) by (apply (total_pos _ _ r); auto; apply weight_pos).
    assert (Ht : 0 < total (weight t) l) by (apply (total_pos _ _ r); auto; apply weight_pos).
    set (k := exp (epsilon / 2 * c)). set (h := exp (epsilon / 2)).
    assert (Hk : 0 < k) by apply exp_pos. assert (Hh : 0 < h) by apply exp_pos.
    (* The weight of r grows by at most a factor h k ... *)
    assert (up : weight s r <= h * k * weight t r).
    { unfold weight, k, h. rewrite <- !exp_plus. apply exp_le.
      destruct (Rabs_le_between _ _ (H r Hr)). nra. }
    (* ... and the total falls by at most a factor h / k. *)
    assert (down : k * total (weight t) l <= h * total (weight s) l).
    { rewrite <- !total_scale. apply total_le. intros q Hq.
      unfold weight, k, h. rewrite <- !exp_plus. apply exp_le.
      destruct (Rabs_le_between _ _ (H q Hq)). nra. }
    assert (E : exp epsilon = h * h).
    { unfold h. rewrite <- exp_plus. f_equal. lra. }
    unfold exponential. rewrite E.
    apply (Rmult_le_reg_r (total (weight s) l * total (weight t) l)); [nra|].
    replace (weight s r / total (weight s) l * (total (weight s) l * total (weight t) l))
      with (weight s r * total (weight t) l) by (field; lra).
    replace (h * h * (weight t r / total (weight t) l)
             * (total (weight s) l * total (weight t) l))
      with (h * h * weight t r * total (weight s) l) by (field; lra).
    assert (W : 0 < weight t r) by apply weight_pos.
    apply Rle_trans with (h * k * weight t r * total (weight t) l).
    - apply Rmult_le_compat_r; lra.
    - replace (h * k * weight t r * total (weight t) l)
        with (h * weight t r * (k * total (weight t) l)) by ring.
      replace (h * h * weight t r * total (weight s) l)
        with (h * weight t r * (h * total (weight s) l)) by ring.
      apply Rmult_le_compat_l; [nra|assumption].
  Qed.

  (** Bounded range: the ratios of the two probabilities of any two candidates are within a factor
      of e^epsilon of each other. *)
  Theorem exponential_has_bounded_range s t r q :
    unit_step l s t -> In r l -> In q l ->
    exponential s r * exponential t q <= exp epsilon * (exponential t r * exponential s q).
  Proof.
    intros [c H] Hr Hq.
    assert (Hs : 0 < total (weight s) l) by (apply (total_pos _ _ r); auto; apply weight_pos).
    assert (Ht : 0 < total (weight t) l) by (apply (total_pos _ _ r); auto; apply weight_pos).
    assert (W : weight s r * weight t q <= exp epsilon * (weight t r * weight s q)).
    { unfold weight. rewrite <- !exp_plus. apply exp_le.
      destruct (Rabs_le_between _ _ (H r Hr)). destruct (Rabs_le_between _ _ (H q Hq)). nra. }
    unfold exponential. set (T := / (total (weight s) l * total (weight t) l)).
    assert (0 < T) by (apply Rinv_0_lt_compat; nra).
    replace (weight s r / total (weight s) l * (weight t q / total (weight t) l))
      with (weight s r * weight t q * T) by (unfold T; field; lra).
    replace (weight t r / total (weight t) l * (weight s q / total (weight s) l))
      with (weight t r * weight s q * T) by (unfold T; field; lra).
    rewrite <- Rmult_assoc. apply Rmult_le_compat_r; lra.
  Qed.

  (** Scores that all rise by 0 to 1, or all fall, may be doubled. *)
  Definition monotone_step (s t : C -> R) : Prop :=
    (forall r, In r l -> 0 <= t r - s r <= 1) \/ (forall r, In r l -> 0 <= s r - t r <= 1).

  Lemma doubled_scores_are_unit_scores s t :
    monotone_step s t -> unit_step l (fun r => 2 * s r) (fun r => 2 * t r).
  Proof.
    intros [H|H]; [exists (- (1))|exists 1]; intros r Hr; specialize (H r Hr);
      apply Rabs_le; lra.
  Qed.

  Theorem exponential_is_private_if_monotone s t r :
    monotone_step s t -> In r l ->
    exponential (fun r => 2 * s r) r <= exp epsilon * exponential (fun r => 2 * t r) r.
  Proof.
    intros H Hr. apply exponential_is_private; [|assumption].
    apply doubled_scores_are_unit_scores. assumption.
  Qed.
End Exponential.

Print Assumptions exponential_is_private.
Print Assumptions exponential_has_bounded_range.
Print Assumptions exponential_is_private_if_monotone.
