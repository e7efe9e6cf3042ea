(** The privacy curve: on unit scores, every event of permute-and-flip and of the exponential
    mechanism lies below the curve of Laplace noise of scale 1/epsilon on a number that moves by 1.

    The scores of one database are led to those of its neighbour on a straight line. On a part of
    it of length h all distributions change by a factor of at most exp (epsilon h), which is the theorem on
    unit scores at a smaller epsilon. What is left is a fact about numbers. *)

Require Import Reals List Lra Lia Psatz.
Require Import UnitScores PermuteAndFlip.
Import ListNotations.
Open Scope R_scope.

(** The largest chance of an event on a neighbour, if its chance is [a]. *)
Definition laplace_curve (epsilon a : R) : R :=
  if Rle_dec a (exp (- epsilon) / 2) then exp epsilon * a
  else if Rle_dec a (/ 2) then 1 - exp (- epsilon) / (4 * a)
  else 1 - exp (- epsilon) * (1 - a).

(** An event's chance on the way from the one database to the other. *)
Definition changes_by_at_most (epsilon : R) (P : R -> R) : Prop :=
  forall x y, 0 <= x <= y -> y <= 1 ->
    P y <= exp (epsilon * (y - x)) * P x
    /\ 1 - P x <= exp (epsilon * (y - x)) * (1 - P y).

Theorem below_the_curve (epsilon : R) (P : R -> R) :
  0 < epsilon -> changes_by_at_most epsilon P -> P 1 <= laplace_curve epsilon (P 0).
Proof.
  intros E H. unfold laplace_curve. set (a := P 0).
  destruct (H 0 1) as [Up Down]; [lra|lra|]. fold a in Up, Down.
  replace (epsilon * (1 - 0)) with epsilon in Up, Down by ring.
  assert (inverse : exp (- epsilon) * exp epsilon = 1)
    by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  pose proof (exp_pos (- epsilon)) as small.
  assert (fall : exp (- epsilon) * (1 - a) <= 1 - P 1).
  { apply Rle_trans with (exp (- epsilon) * (exp epsilon * (1 - P 1))).
    - apply Rmult_le_compat_l; lra.
    - rewrite <- Rmult_assoc, inverse. lra. }
  destruct (Rle_dec a (exp (- epsilon) / 2)) as [L|L]; [lra|].
  destruct (Rle_dec a (/ 2)) as [M|M]; [|lra].
  (* In between the chance is at most 1/2 as long as it could have grown to it. *)
  assert (A : 0 < a) by lra.
  set (x := - ln (2 * a) / epsilon).
  assert (X : epsilon * x = - ln (2 * a)) by (unfold x; field; lra).
  assert (ln_low : - epsilon <= ln (2 * a)).
  { rewrite <- (ln_exp (- epsilon)). apply Rlt_le, ln_increasing; lra. }
  assert (ln_high : ln (2 * a) <= 0).
  { rewrite <- ln_1. destruct (Req_dec (2 * a) 1) as [Q|Q]; [rewrite Q; lra|].
    apply Rlt_le, ln_increasing; lra. }
  assert (range : 0 <= x <= 1) by (split; nra).
  destruct (H 0 x) as [Half _]; [lra|lra|]. fold a in Half.
  destruct (H x 1) as [_ Last]; [lra|lra|].
  replace (epsilon * (x - 0)) with (- ln (2 * a)) in Half by (rewrite <- X; ring).
  rewrite exp_Ropp, exp_ln in Half by lra.
  replace (/ (2 * a) * a) with (/ 2) in Half by (field; lra).
  replace (epsilon * (1 - x)) with (epsilon + ln (2 * a)) in Last by (rewrite <- (Ropp_involutive (ln (2 * a))), <- X; ring).
  rewrite exp_plus, exp_ln in Last by lra.
  assert (Q : exp (- epsilon) / 2 <= 2 * a * (1 - P 1)).
  { apply Rle_trans with (exp (- epsilon) * (exp epsilon * (2 * a) * (1 - P 1))).
    - apply Rmult_le_compat_l; lra.
    - right. rewrite <- !Rmult_assoc, inverse. ring. }
  assert (exp (- epsilon) / (4 * a) <= 1 - P 1); [|lra].
  apply (Rmult_le_reg_r (2 * a)); [lra|].
  replace (exp (- epsilon) / (4 * a) * (2 * a)) with (exp (- epsilon) / 2) by (field; lra).
  lra.
Qed.

(** Chances of candidates that change by at most a factor, and sum up to 1. *)
Lemma events_change {C : Type} (l : list C) (inside : C -> bool) (chance : R -> C -> R)
    (epsilon : R) :
  (forall x, 0 <= x <= 1 -> total (chance x) l = 1) ->
  (forall x y r, 0 <= x <= y -> y <= 1 -> In r l ->
     chance y r <= exp (epsilon * (y - x)) * chance x r
     /\ chance x r <= exp (epsilon * (y - x)) * chance y r) ->
  changes_by_at_most epsilon (fun x => total (fun r => if inside r then chance x r else 0) l).
Proof.
  intros One Step x y [X XY] Y.
  assert (rest : forall z, 0 <= z <= 1 ->
    1 - total (fun r => if inside r then chance z r else 0) l
    = total (fun r => if inside r then 0 else chance z r) l).
  { intros z Z. rewrite <- (One z Z), <- total_minus. apply total_ext.
    intros r _. destruct (inside r); ring. }
  rewrite !rest by lra. rewrite <- !total_scale.
  split; apply total_le; intros r R; destruct (Step x y r) as [S1 S2]; auto;
    destruct (inside r); lra.
Qed.

Section Line.
  Context {C : Type} (l : list C) (epsilon : R).
  Hypothesis epsilon_pos : 0 < epsilon.
  Context (s t : C -> R).
  Hypothesis step : unit_step l s t.

  (** Scores on the way. *)
  Definition between (x : R) (r : C) : R := s r + x * (t r - s r).

  Lemma between_step x y h :
    0 < h -> h = y - x ->
    unit_step l (fun r => between y r / h) (fun r => between x r / h).
  Proof.
    intros P E. destruct step as [c H]. exists (- c). intros r Hr.
    replace (between y r / h - between x r / h - - c) with (- (s r - t r - c)).
    - rewrite Rabs_Ropp. apply H, Hr.
    - unfold between. subst h. field. lra.
  Qed.

  (** ** The exponential mechanism *)

  Lemma exponential_scaled (u : C -> R) (h : R) (r : C) :
    h <> 0 -> exponential l (epsilon * h) (fun q => u q / h) r = exponential l epsilon u r.
  Proof.
    intros H. unfold exponential.
    assert (W : forall q, weight (epsilon * h) (fun q => u q / h) q = weight epsilon u q)
      by (intros q; unfold weight; f_equal; field; assumption).
    rewrite W. f_equal. apply total_ext. intros; apply W.
  Qed.

  Theorem exponential_curve (inside : C -> bool) (r0 : C) :
    In r0 l ->
    total (fun r => if inside r then exponential l epsilon t r else 0) l
    <= laplace_curve epsilon
         (total (fun r => if inside r then exponential l epsilon s r else 0) l).
  Proof.
    intros Hr0.
    set (P := fun x => total (fun r => if inside r then exponential l epsilon (between x) r
                                       else 0) l).
    assert (ends : P 0 = total (fun r => if inside r then exponential l epsilon s r else 0) l
                   /\ P 1 = total (fun r => if inside r then exponential l epsilon t r else 0) l).
    { assert (same : forall u v, (forall r, u r = v r) -> forall r,
               exponential l epsilon u r = exponential l epsilon v r).
      { intros u v F r. unfold exponential, weight. rewrite F. f_equal. apply total_ext.
        intros q _. rewrite F. reflexivity. }
      split; apply total_ext; intros r _; destruct (inside r); auto; apply same;
        intros q; unfold between; ring. }
    destruct ends as [E0 E1]. rewrite <- E0, <- E1.
    apply below_the_curve; [assumption|].
    apply (events_change l inside (fun x => exponential l epsilon (between x))).
    - intros x _. apply (exponential_is_a_distribution l epsilon (between x) r0 Hr0).
    - intros x y r [X XY] Y R. destruct (Req_dec x y) as [Q|Q].
      + subst y. replace (epsilon * (x - x)) with 0 by ring. rewrite exp_0. lra.
      + set (h := y - x). assert (H : 0 < h) by (unfold h; lra).
        rewrite <- (exponential_scaled (between y) h), <- (exponential_scaled (between x) h)
          by lra.
        assert (0 < epsilon * h) by nra.
        split; apply exponential_is_private; auto.
        * apply between_step; auto.
        * apply unit_step_sym, between_step; auto.
  Qed.
End Line.

(** ** Permute-and-flip *)

Lemma picks_map {A B : Type} (f : A -> B) (l : list A) :
  picks (map f l) = map (fun q => (f (fst q), map f (snd q))) (picks l).
Proof.
  induction l as [|x l IH]; simpl; [reflexivity|]. f_equal.
  rewrite IH, !map_map. apply map_ext. intros q; reflexivity.
Qed.

Lemma picks_in {A : Type} (l : list A) q x :
  In q (picks l) -> (In x l <-> In x (fst q :: snd q)).
Proof.
  revert q. induction l as [|y l IH]; simpl; [tauto|]. intros q [E|H].
  - subst q. simpl. tauto.
  - apply in_map_iff in H. destruct H as [r [E H]]. subst q. simpl.
    specialize (IH r H). simpl in IH. tauto.
Qed.

Section Curve.
  Context {C : Type} (l : list C) (r0 : C) (epsilon : R).
  Hypothesis some : In r0 l.
  Hypothesis epsilon_pos : 0 < epsilon.

  (** The largest score. *)
  Definition top_of (u : C -> R) : R := fold_right (fun r m => Rmax (u r) m) (u r0) l.

  Lemma top_of_spec (u : C -> R) :
    (exists r, In r l /\ u r = top_of u) /\ forall r, In r l -> u r <= top_of u.
  Proof.
    assert (G : forall k, (exists r, (r = r0 \/ In r k)
                             /\ u r = fold_right (fun r m => Rmax (u r) m) (u r0) k)
                          /\ forall r, In r k -> u r <= fold_right (fun r m => Rmax (u r) m) (u r0) k).
    { induction k as [|x k [[r [I E]] M]]; simpl.
      - split; [exists r0; auto|tauto].
      - split.
        + destruct (Rle_dec (u x) (fold_right (fun r m => Rmax (u r) m) (u r0) k)) as [L|L].
          * exists r. split; [tauto|]. rewrite Rmax_right; assumption.
          * exists x. split; [tauto|]. rewrite Rmax_left; lra.
        + intros y [Y|Y]; [subst; apply Rmax_l|].
          apply Rle_trans with (2 := Rmax_r _ _). auto. }
    destruct (G l) as [[r [I E]] M]. split; [|exact M].
    exists r. split; [destruct I as [I|I]; [subst|]; assumption|exact E].
  Qed.

  (** The probability of a candidate, given with the others. *)
  Definition chance (u : C -> R) (q : C * list C) : R :=
    permute_and_flip (snd q) (fst q) epsilon u (top_of u).

  Lemma chances_sum_to_one (u : C -> R) : total (chance u) (picks l) = 1.
  Proof.
    destruct (top_of_spec u) as [[r [I E]] _].
    rewrite <- (permute_and_flip_is_a_distribution (map (accept epsilon u (top_of u)) l)).
    - rewrite picks_map, total_map. apply total_ext. intros q _.
      unfold chance, permute_and_flip. simpl. rewrite map_length. reflexivity.
    - apply in_map_iff. exists r. split; [|assumption]. unfold accept. rewrite E.
      replace (epsilon / 2 * (top_of u - top_of u)) with 0 by ring. apply exp_0.
  Qed.

  Lemma permute_and_flip_scaled others r (u : C -> R) (top h : R) :
    h <> 0 ->
    permute_and_flip others r (epsilon * h) (fun q => u q / h) (top / h)
    = permute_and_flip others r epsilon u top.
  Proof.
    intros H. unfold permute_and_flip.
    assert (W : forall q, accept (epsilon * h) (fun q => u q / h) (top / h) q
                          = accept epsilon u top q)
      by (intros q; unfold accept; f_equal; field; assumption).
    rewrite W. f_equal. f_equal. apply map_ext. exact W.
  Qed.

  Lemma is_top_scaled (u : C -> R) (h : R) q :
    In q (picks l) -> 0 < h ->
    is_top (snd q) (fst q) (fun r => u r / h) (top_of u / h).
  Proof.
    intros Q H. destruct (top_of_spec u) as [[r [I E]] M]. split.
    - exists r. split; [apply (picks_in l q r Q); assumption|]. rewrite E. reflexivity.
    - intros j J. apply (picks_in l q j Q) in J. specialize (M j J).
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; assumption|assumption].
  Qed.

  Theorem permute_and_flip_curve (s t : C -> R) (inside : C * list C -> bool) :
    unit_step l s t ->
    total (fun q => if inside q then chance t q else 0) (picks l)
    <= laplace_curve epsilon (total (fun q => if inside q then chance s q else 0) (picks l)).
  Proof.
    intros step.
    set (P := fun x => total (fun q => if inside q then chance (between s t x) q else 0)
                             (picks l)).
    assert (same : forall u v, (forall r, u r = v r) -> forall q, chance u q = chance v q).
    { intros u v F q. unfold chance, permute_and_flip, top_of.
      assert (T : fold_right (fun r m => Rmax (u r) m) (u r0) l
                  = fold_right (fun r m => Rmax (v r) m) (v r0) l).
      { generalize l. intros k. induction k as [|x k IH]; simpl; [apply F|].
        rewrite F, IH. reflexivity. }
      rewrite T. unfold accept. rewrite F. f_equal. f_equal. apply map_ext.
      intros r. rewrite F. reflexivity. }
    assert (E0 : P 0 = total (fun q => if inside q then chance s q else 0) (picks l)).
    { apply total_ext. intros q _. destruct (inside q); auto. apply same.
      intros r. unfold between. ring. }
    assert (E1 : P 1 = total (fun q => if inside q then chance t q else 0) (picks l)).
    { apply total_ext. intros q _. destruct (inside q); auto. apply same.
      intros r. unfold between. ring. }
    rewrite <- E0, <- E1. apply below_the_curve; [assumption|].
    apply (events_change (picks l) inside (fun x => chance (between s t x))).
    - intros x _. apply chances_sum_to_one.
    - intros x y q [X XY] Y Q. destruct (Req_dec x y) as [D|D].
      + subst y. replace (epsilon * (x - x)) with 0 by ring. rewrite exp_0. lra.
      + set (h := y - x). assert (H : 0 < h) by (unfold h; lra).
        assert (S : unit_step (fst q :: snd q) (fun r => between s t y r / h)
                              (fun r => between s t x r / h)).
        { destruct (between_step l s t step x y h H eq_refl) as [c G]. exists c.
          intros r R. apply G. apply (picks_in l q r Q). assumption. }
        unfold chance.
        rewrite <- (permute_and_flip_scaled (snd q) (fst q) (between s t y) _ h) by lra.
        rewrite <- (permute_and_flip_scaled (snd q) (fst q) (between s t x) _ h) by lra.
        assert (0 < epsilon * h) by nra.
        split; apply permute_and_flip_is_private; auto using is_top_scaled, unit_step_sym.
  Qed.
End Curve.

Print Assumptions exponential_curve.
Print Assumptions permute_and_flip_curve.
