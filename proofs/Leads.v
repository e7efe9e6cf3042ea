(** What a lead is worth: two candidates, and the least lead that any mechanism can resolve. *)

Require Import Reals List Lra Lia.
Require Import UnitScores PermuteAndFlip.
Import ListNotations.
Open Scope R_scope.

Section Steps.
  Context {X : Type} (near : X -> X -> Prop) (epsilon : R).
  Hypothesis near_sym : forall x y, near x y -> near y x.

  (** [steps n x y]: n neighbour steps lead from x to y. *)
  Inductive steps : nat -> X -> X -> Prop :=
  | here x : steps 0 x x
  | further n x y z : near x y -> steps n y z -> steps (S n) x z.

  (** The probability of one event on every database, of an epsilon-DP mechanism. *)
  Definition private (p : X -> R) : Prop := forall x y, near x y -> p x <= exp epsilon * p y.

  (** Group privacy: n steps change a probability by a factor of at most e^(n epsilon). *)
  Lemma group_privacy p n x y : private p -> steps n x y -> p y <= exp (INR n * epsilon) * p x.
  Proof.
    intros P S. induction S as [x|n x y z N S IH].
    - simpl. rewrite Rmult_0_l, exp_0. lra.
    - rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus.
      apply Rle_trans with (1 := IH). rewrite Rmult_assoc.
      apply Rmult_le_compat_l; [left; apply exp_pos|]. apply P. apply near_sym. assumption.
  Qed.

  (** Whoever draws the worse one of two with one half or more at a tie draws it after n steps
      with at least half of e^(-n epsilon). *)
  Theorem no_error_is_smaller p n x y :
    private p -> steps n x y -> / 2 <= p y -> exp (- (INR n * epsilon)) / 2 <= p x.
  Proof.
    intros P S T. pose proof (group_privacy p n x y P S) as G.
    rewrite exp_Ropp. apply Rmult_le_reg_l with (exp (INR n * epsilon)); [apply exp_pos|].
    replace (exp (INR n * epsilon) * (/ exp (INR n * epsilon) / 2)) with (/ 2)
      by (field; apply Rgt_not_eq, exp_pos).
    lra.
  Qed.

  (** Permute-and-flip on the scores D and -D of two candidates draws the worse one with half of
      e^(-epsilon D). *)
  Theorem permute_and_flip_of_two {C : Type} (best worse : C) (s : C -> R) (D : R) :
    s best = D -> s worse = - D ->
    permute_and_flip [best] worse epsilon s D = exp (- (epsilon * D)) / 2.
  Proof.
    intros B W. unfold permute_and_flip, accept. simpl. rewrite B, W.
    replace (epsilon / 2 * (D - D)) with 0 by ring.
    replace (epsilon / 2 * (- D - D)) with (- (epsilon * D)) by field.
    rewrite exp_0. field.
  Qed.

  (** So it is optimal where the dampened lead D is the number of steps to a tie. *)
  Theorem pairwise_is_optimal_for_two
    {C : Type} (best worse : C) (s : C -> R) (p : X -> R) n x y :
    s best = INR n -> s worse = - INR n -> private p -> steps n x y -> / 2 <= p y ->
    permute_and_flip [best] worse epsilon s (INR n) <= p x.
  Proof.
    intros B W P S T. rewrite (permute_and_flip_of_two best worse s (INR n) B W).
    rewrite Rmult_comm. apply (no_error_is_smaller p n x y P S T).
  Qed.
End Steps.

Section Leads.
  Context {X C : Type} (near : X -> X -> Prop) (l : list C) (epsilon beta : R).
  Hypothesis near_sym : forall x y, near x y -> near y x.
  Hypothesis distinct : NoDup l.

  (** A distribution on every database, epsilon-DP outcome by outcome. *)
  Context (chance : X -> C -> R).
  Hypothesis sums_to_one : forall x, total (chance x) l = 1.
  Hypothesis each_private : forall c, In c l -> private near epsilon (fun x => chance x c).

  (** [leads i] is a database in which i leads, q steps from the empty one. *)
  Context (empty : X) (leads : C -> X) (q : nat).
  Hypothesis far : forall i, In i l -> steps near q empty (leads i).
  Hypothesis resolves : forall i, In i l -> 1 - beta <= chance (leads i) i.

  Let growth := exp (INR q * epsilon).

  Lemma growth_pos : 0 < growth.
  Proof. apply exp_pos. Qed.

  Lemma total_of_all (k : R) (f : C -> R) (m : list C) :
    (forall c, In c m -> k <= f c) -> INR (length m) * k <= total f m.
  Proof.
    induction m as [|c m IH]; intros H; [simpl; lra|].
    cbn [length total]. rewrite S_INR.
    assert (k <= f c) by (apply H; left; reflexivity).
    assert (INR (length m) * k <= total f m) by (apply IH; intros; apply H; right; assumption).
    lra.
  Qed.

  (** n (1 - beta) <= e^(q epsilon): the n candidates share the distribution on the empty database. *)
  Theorem least_lead_by_shares : INR (length l) * (1 - beta) <= growth.
  Proof.
    assert (H : INR (length l) * ((1 - beta) / growth) <= total (chance empty) l).
    { apply total_of_all. intros i Hi.
      pose proof (group_privacy near epsilon near_sym (fun x => chance x i) q empty (leads i)
        (each_private i Hi) (far i Hi)) as G.
      pose proof (resolves i Hi). pose proof growth_pos.
      apply Rmult_le_reg_l with growth; [assumption|].
      replace (growth * ((1 - beta) / growth)) with (1 - beta) by (field; lra).
      fold growth in G. lra. }
    rewrite sums_to_one in H. pose proof growth_pos.
    apply Rmult_le_reg_r with (/ growth); [apply Rinv_0_lt_compat; assumption|].
    rewrite Rinv_r by lra. unfold Rdiv in H. lra.
  Qed.

  (** What is not i has a probability of at least e^(-q epsilon) times that on the empty one. *)
  Lemma total_without (f : C -> R) (i : C) (m : list C) :
    NoDup m -> In i m ->
    exists rest : list C, total f m = f i + total f rest /\ incl rest m.
  Proof.
    induction m as [|c m IH]; intros D; [intros []|]. inversion D; subst. intros [E|I].
    - subst c. exists m. split; [reflexivity|]. intros j; right; assumption.
    - destruct (IH H2 I) as [rest [E S]]. exists (c :: rest). split.
      + simpl. rewrite E. ring.
      + intros j [J|J]; [left; assumption|right; apply S; assumption].
  Qed.

  Lemma others_private i x y :
    In i l -> near x y -> 1 - chance x i <= exp epsilon * (1 - chance y i).
  Proof.
    intros I N. destruct (total_without (fun c => exp epsilon * chance y c - chance x c) i l distinct I)
      as [rest [E S]].
    assert (P : 0 <= total (fun c => exp epsilon * chance y c - chance x c) rest).
    { apply total_nonneg. intros c Hc.
      pose proof (each_private c (S c Hc) x y N). simpl in H. lra. }
    assert (T : total (fun c => exp epsilon * chance y c - chance x c) l
                = exp epsilon * total (chance y) l - total (chance x) l).
    { clear. induction l as [|c m IH]; simpl; [ring|rewrite IH; ring]. }
    rewrite !sums_to_one in T. lra.
  Qed.

  (** n - 1 <= n beta e^(q epsilon): errors cannot all be rare on the empty database. *)
  Theorem least_lead_by_errors : INR (length l) - 1 <= INR (length l) * beta * growth.
  Proof.
    assert (H : INR (length l) * (1 - beta * growth) <= total (chance empty) l).
    { apply total_of_all. intros i Hi.
      assert (O : private near epsilon (fun x => 1 - chance x i)).
      { intros x y N. apply others_private; assumption. }
      assert (back : forall n x y, steps near n x y -> steps near n y x).
      { clear - near_sym.
        assert (app : forall n x y z,
          steps near n x y -> near y z -> steps near (S n) x z).
        { intros n x y z S N. induction S as [x|n x y w M S IH].
          - apply further with z; [assumption|constructor].
          - apply further with y; [assumption|apply IH; assumption]. }
        intros n x y S. induction S as [x|n x y z N S IH]; [constructor|].
        apply app with y; [assumption|apply near_sym; assumption]. }
      pose proof (group_privacy near epsilon near_sym (fun x => 1 - chance x i) q (leads i) empty O
        (back _ _ _ (far i Hi))) as G. simpl in G. fold growth in G.
      pose proof (resolves i Hi). pose proof growth_pos.
      assert (growth * (1 - chance (leads i) i) <= growth * beta)
        by (apply Rmult_le_compat_l; lra). lra. }
    rewrite sums_to_one in H. lra.
  Qed.
End Leads.

Print Assumptions pairwise_is_optimal_for_two.
Print Assumptions least_lead_by_shares.
Print Assumptions least_lead_by_errors.
