(** The privacy filter as a state machine: an analyst chooses each release after seeing the ones
    before it, a part of what was spent is given back when the outcome cost less, and what does
    not fit is refused.

    Distributions are given on two neighbouring databases, [p] on the one and [q] on the other. The
    theorem is stated for one order of the two; a guarantee takes it for both. *)

Require Import Reals List Lra.
Require Import UnitScores.
Import ListNotations.
Open Scope R_scope.

Section Filter.
  Context {O : Type}.

  (** A release: what it is spent for, and what an outcome costs. *)
  Record release := {
    outcomes : list O;
    p : O -> R;
    q : O -> R;
    cost : O -> R;
    epsilon : R;
    delta : R;
  }.

  (** What an analyst does, as a tree: ends, or asks for a release and goes on by its outcome, or
      by the refusal. A random strategy is a mixture of such trees. *)
  Inductive strategy {A : Type} :=
  | ends
  | asks (m : A) (next : O -> strategy) (refused : strategy).

  Definition excess_of (a b : R) : R := Rmax 0 (a - b).

  (** What a release must keep: sum of [p(o) - e^cost(o) q(o)]_+ at most delta. *)
  Definition is_honest (m : release) : Prop :=
    (forall o, In o (outcomes m) -> 0 <= p m o /\ 0 <= q m o)
    /\ total (p m) (outcomes m) <= 1
    /\ (forall o, In o (outcomes m) -> 0 <= cost m o <= epsilon m)
    /\ 0 <= delta m
    /\ total (fun o => excess_of (p m o) (exp (cost m o) * q m o)) (outcomes m) <= delta m.

  Fixpoint all_honest (s : @strategy release) : Prop :=
    match s with
    | ends => True
    | asks m next refused => is_honest m /\ (forall o, all_honest (next o)) /\ all_honest refused
    end.

  (** The state is what is left of both totals. A release is admitted if it fits as it was spent
      for; then its outcome decides what it cost. The number is the sum of [w P - z Q]_+ over all
      transcripts of what follows, for their distributions P and Q. *)
  Fixpoint excess (s : @strategy release) (e d w z : R) : R :=
    match s with
    | ends => excess_of w z
    | asks m next refused =>
        if Rle_dec (epsilon m) e then
          if Rle_dec (delta m) d then
            total (fun o => excess (next o) (e - cost m o) (d - delta m) (w * p m o) (z * q m o))
                  (outcomes m)
          else excess refused e d w z
        else excess refused e d w z
    end.

  Lemma excess_of_nonneg a b : 0 <= excess_of a b.
  Proof. apply Rmax_l. Qed.

  Lemma excess_of_least a b c : 0 <= c -> a - b <= c -> excess_of a b <= c.
  Proof. intros. apply Rmax_lub; assumption. Qed.

  Lemma excess_of_above a b : a - b <= excess_of a b.
  Proof. apply Rmax_r. Qed.

  Lemma total_plus (f g : O -> R) (l : list O) :
    total (fun o => f o + g o) l = total f l + total g l.
  Proof. induction l as [|o l IH]; simpl; [|rewrite IH]; lra. Qed.

  (** One release: weights [w] and [z] that its neighbours come with. *)
  Lemma one_release (m : release) (w z : R) :
    is_honest m -> 0 <= w -> 0 <= z ->
    total (fun o => excess_of (w * p m o) (exp (cost m o) * z * q m o)) (outcomes m)
    <= excess_of w z + w * delta m.
  Proof.
    intros [N [P [_ [D H]]]] W Z.
    destruct (Rle_lt_dec w z) as [L|L].
    - apply Rle_trans with (w * delta m).
      + apply Rle_trans
          with (total (fun o => w * excess_of (p m o) (exp (cost m o) * q m o)) (outcomes m)).
        * apply total_le. intros o Ho. destruct (N o Ho) as [Np Nq].
          pose proof (excess_of_nonneg (p m o) (exp (cost m o) * q m o)).
          pose proof (excess_of_above (p m o) (exp (cost m o) * q m o)).
          pose proof (exp_pos (cost m o)).
          assert (0 <= exp (cost m o) * q m o) by nra.
          apply excess_of_least; nra.
        * rewrite total_scale. apply Rmult_le_compat_l; assumption.
      + pose proof (excess_of_nonneg w z). lra.
    - apply Rle_trans
        with (total (fun o => (w - z) * p m o
                              + z * excess_of (p m o) (exp (cost m o) * q m o)) (outcomes m)).
      + apply total_le. intros o Ho. destruct (N o Ho) as [Np Nq].
        pose proof (excess_of_nonneg (p m o) (exp (cost m o) * q m o)).
        pose proof (excess_of_above (p m o) (exp (cost m o) * q m o)).
        apply excess_of_least; nra.
      + rewrite total_plus, !total_scale.
        pose proof (excess_of_above w z). nra.
  Qed.

  Lemma excess_step (s : @strategy release) (e d w z : R) :
    all_honest s -> 0 <= e -> 0 <= d -> 0 <= w -> 0 <= z ->
    excess s e d w z <= excess_of w (exp (- e) * z) + w * d.
  Proof.
    revert e d w z. induction s as [|m next IH refused IHr]; intros e d w z Hs He Hd Hw Hz.
    - simpl. assert (exp (- e) <= 1) by (rewrite <- exp_0; apply exp_le; lra).
      pose proof (exp_pos (- e)). pose proof (excess_of_nonneg w (exp (- e) * z)).
      pose proof (excess_of_above w (exp (- e) * z)).
      apply excess_of_least; nra.
    - destruct Hs as [Hm [Hn Hr]]. simpl.
      destruct (Rle_dec (epsilon m) e) as [E|_]; [|apply IHr; assumption].
      destruct (Rle_dec (delta m) d) as [D|_]; [|apply IHr; assumption].
      pose proof Hm as [N [P [C [Dm H]]]].
      pose proof (exp_pos (- e)) as X.
      apply Rle_trans
        with (total (fun o => excess_of (w * p m o) (exp (cost m o) * (exp (- e) * z) * q m o)
                              + w * (d - delta m) * p m o) (outcomes m)).
      + apply total_le. intros o Ho. destruct (N o Ho) as [Np Nq]. destruct (C o Ho).
        replace (exp (cost m o) * (exp (- e) * z) * q m o)
          with (exp (- (e - cost m o)) * (z * q m o)).
        * replace (w * (d - delta m) * p m o) with (w * p m o * (d - delta m)) by ring.
          apply IH; try lra; [apply Hn|nra|nra].
        * replace (- (e - cost m o)) with (cost m o + - e) by ring. rewrite exp_plus. ring.
      + rewrite total_plus, total_scale.
        assert (0 <= exp (- e) * z) by nra.
        pose proof (one_release m w (exp (- e) * z) Hm Hw ltac:(assumption)).
        assert (w * (d - delta m) * total (p m) (outcomes m) <= w * (d - delta m)).
        { assert (0 <= w * (d - delta m)) by nra. nra. }
        lra.
  Qed.

  (** All transcripts together, refusals included, are (epsilon, delta)-indistinguishable. *)
  Theorem filter_with_refunds_is_private (s : @strategy release) (e d : R) :
    all_honest s -> 0 <= e -> 0 <= d -> excess s e d 1 (exp e) <= d.
  Proof.
    intros Hs He Hd.
    pose proof (excess_step s e d 1 (exp e) Hs He Hd ltac:(lra) ltac:(left; apply exp_pos)).
    assert (E : exp (- e) * exp e = 1) by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
    rewrite E in H. unfold excess_of in H. rewrite Rmax_left in H; lra.
  Qed.
End Filter.

Print Assumptions filter_with_refunds_is_private.
