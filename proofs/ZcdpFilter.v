(** The privacy filter with a limit of zCDP beside that of epsilons: a release is admitted if its
    delta fits and either its epsilon or its rho does, and a part of its epsilon may be given back
    when its outcome is known.

    At one Renyi order [alpha]. Distributions are given on two neighbouring databases; the theorem
    is stated for one order of the two, and a guarantee takes it for both. *)

Require Import Reals List Lra.
Require Import UnitScores Filter.
Import ListNotations.
Open Scope R_scope.

Section Zcdp.
  Context {O : Type} (alpha : R).
  Hypothesis above_one : 1 < alpha.

  (** What one outcome adds to the sum of P^alpha Q^(1 - alpha). *)
  Definition moment (w z : R) : R :=
    if Rle_dec w 0 then 0 else Rpower w alpha * Rpower z (1 - alpha).

  (** A release with parts of its distributions, outside of which is an event of its delta. *)
  Record release_with_rho := {
    spent : @release O;
    rho : R;
    part_p : O -> R;
    part_q : O -> R;
  }.

  (** The parts are within the factor e^cost, and their moment is that of rho-zCDP. Without a delta
      they are the distributions. *)
  Definition keeps (m : release_with_rho) : Prop :=
    let outcomes := outcomes (spent m) in
    (forall o, In o outcomes ->
       0 <= part_p m o <= p (spent m) o /\ 0 <= part_q m o <= q (spent m) o
       /\ part_p m o <= exp (cost (spent m) o) * part_q m o
       /\ 0 <= cost (spent m) o <= epsilon (spent m))
    /\ total (p (spent m)) outcomes <= 1
    /\ 1 - delta (spent m) <= total (part_p m) outcomes
    /\ 0 <= delta (spent m)
    /\ 0 <= rho m
    /\ total (fun o => moment (part_p m o) (part_q m o)) outcomes
       <= exp (alpha * (alpha - 1) * rho m).

  Fixpoint all_keep (s : @strategy O release_with_rho) : Prop :=
    match s with
    | ends => True
    | asks m next refused => keeps m /\ (forall o, all_keep (next o)) /\ all_keep refused
    end.

  (** The state is what is left of the three totals, of which that of epsilons or that of rhos may
      be overdrawn. The number is the sum of [w P - z Q]_+ over all transcripts. *)
  Fixpoint over (s : @strategy O release_with_rho) (e d r w z : R) : R :=
    match s with
    | ends => excess_of w z
    | asks m next refused =>
        let admitted :=
          total (fun o => over (next o) (e - cost (spent m) o) (d - delta (spent m)) (r - rho m)
                            (w * p (spent m) o) (z * q (spent m) o)) (outcomes (spent m)) in
        if Rle_dec (delta (spent m)) d then
          if Rle_dec (epsilon (spent m)) e then admitted
          else if Rle_dec (rho m) r then admitted
          else over refused e d r w z
        else over refused e d r w z
    end.

  (** The largest of (x - 1)/x^alpha. *)
  Definition peak : R := / alpha * Rpower (1 - / alpha) (alpha - 1).

  Lemma moment_nonneg w z : 0 <= moment w z.
  Proof.
    unfold moment. destruct (Rle_dec w 0); [lra|].
    left. apply Rmult_lt_0_compat; apply exp_pos.
  Qed.

  Lemma moment_mult w z a b :
    0 <= w -> 0 <= a -> (0 < w -> 0 < z) -> (0 < a -> 0 < b) ->
    moment (w * a) (z * b) = moment w z * moment a b.
  Proof.
    intros W A Z B. unfold moment.
    destruct (Rle_dec w 0) as [W0|W0].
    - destruct (Rle_dec (w * a) 0) as [|N]; [ring|]. exfalso. apply N. nra.
    - destruct (Rle_dec a 0) as [A0|A0].
      + destruct (Rle_dec (w * a) 0) as [|N]; [ring|]. exfalso. apply N. nra.
      + destruct (Rle_dec (w * a) 0) as [N|_]; [exfalso; nra|].
        rewrite <- !Rpower_mult_distr by (try apply Z; try apply B; lra). ring.
  Qed.

  Lemma log_below x : 0 < x -> ln x <= x - 1.
  Proof.
    intros X. pose proof (exp_ineq1_le (ln x)) as H. rewrite exp_ln in H by assumption. lra.
  Qed.

  Lemma peak_pos : 0 < peak.
  Proof. apply Rmult_lt_0_compat; [apply Rinv_0_lt_compat; lra|apply exp_pos]. Qed.

  (** From the moment to what exceeds. *)
  Lemma excess_below_moment w z :
    0 <= w -> 0 <= z -> (0 < w -> 0 < z) -> excess_of w z <= peak * moment w z.
  Proof.
    intros W Z0 Z. pose proof peak_pos as P. pose proof (moment_nonneg w z) as M.
    destruct (Rle_lt_dec w z) as [L|L].
    - unfold excess_of. rewrite Rmax_left by lra. apply Rmult_le_pos; lra.
    - assert (W0 : 0 < w) by lra. specialize (Z W0). unfold excess_of. rewrite Rmax_right by lra.
      unfold moment. destruct (Rle_dec w 0); [lra|].
      set (y := 1 - z / w).
      assert (Zw : z / w * w = z) by (field; lra).
      assert (Y : 0 < y < 1).
      { unfold y. assert (0 < z / w) by (apply Rdiv_lt_0_compat; assumption).
        split; [|lra]. assert (z / w < 1); [|lra].
        apply Rmult_lt_reg_r with w; [assumption|]. lra. }
      assert (I : 0 < / alpha < 1).
      { split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_lt_contravar; lra. }
      (* In logarithms: ln y + (alpha - 1) ln (1 - y) is largest at 1/alpha. *)
      assert (A : ln y + (alpha - 1) * ln (1 - y)
                  <= ln (/ alpha) + (alpha - 1) * ln (1 - / alpha)).
      { assert (B1 : ln (y * alpha) <= y * alpha - 1) by (apply log_below; nra).
        assert (B2 : ln ((1 - y) / (1 - / alpha)) <= (1 - y) / (1 - / alpha) - 1).
        { apply log_below. apply Rdiv_lt_0_compat; lra. }
        rewrite ln_mult in B1 by lra. unfold Rdiv in B2.
        rewrite ln_mult, ln_Rinv in B2 by (try apply Rinv_0_lt_compat; lra).
        apply (Rmult_le_compat_l (alpha - 1)) in B2; [|lra].
        replace ((alpha - 1) * ((1 - y) * / (1 - / alpha) - 1))
          with (alpha * (1 - y) - (alpha - 1)) in B2 by (field; lra).
        rewrite ln_Rinv by lra. nra. }
      assert (lw : ln (1 - y) = ln z - ln w).
      { unfold y. replace (1 - (1 - z / w)) with (z * / w) by (field; lra).
        rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra). ring. }
      assert (E : w - z = exp (ln w + ln y)).
      { rewrite exp_plus, !exp_ln by lra. unfold y. field. lra. }
      rewrite E. unfold peak, Rpower.
      set (b := (alpha - 1) * ln (1 - / alpha)) in *.
      rewrite <- (exp_ln (/ alpha)) by lra. rewrite <- !exp_plus. apply exp_le.
      rewrite lw in A.
      replace (alpha * ln w + (1 - alpha) * ln z)
        with (ln w - (alpha - 1) * (ln z - ln w)) by ring. lra.
  Qed.

  (** What is lost of the one distribution, and the moment of what is kept of both, with weights
      [w], [z] of all and [v], [y] of what was kept so far. *)
  Lemma over_step (s : @strategy O release_with_rho) (e d r w z v y : R) :
    all_keep s -> 0 <= d -> (0 <= e \/ 0 <= r) ->
    0 <= v <= w -> 0 <= y <= z -> v * exp e <= y ->
    over s e d r w z
    <= w - v + v * d + peak * moment v y * exp (alpha * (alpha - 1) * r).
  Proof.
    pose proof peak_pos as P.
    revert e d r w z v y.
    induction s as [|m next IH refused IHr]; intros e d r w z v y K D ER V Y R.
    - cbn [over]. pose proof (moment_nonneg v y) as M. pose proof (exp_pos e) as X.
      pose proof (exp_pos (alpha * (alpha - 1) * r)) as X'.
      assert (positive : 0 < v -> 0 < y) by (intros; nra).
      assert (G : excess_of v y <= peak * moment v y * exp (alpha * (alpha - 1) * r)).
      { assert (B0 : 0 <= peak * moment v y * exp (alpha * (alpha - 1) * r)).
        { apply Rmult_le_pos; [apply Rmult_le_pos|]; lra. }
        destruct ER as [E|E].
        - apply excess_of_least; [assumption|].
          assert (1 <= exp e) by (rewrite <- exp_0; apply exp_le; assumption). nra.
        - apply Rle_trans with (peak * moment v y).
          + apply excess_below_moment; [lra|lra|assumption].
          + assert (1 <= exp (alpha * (alpha - 1) * r)).
            { rewrite <- exp_0 at 1. apply exp_le. apply Rmult_le_pos; [|assumption].
              apply Rmult_le_pos; lra. }
            assert (0 <= peak * moment v y) by (apply Rmult_le_pos; lra). nra. }
      pose proof (excess_of_above v y). pose proof (excess_of_nonneg v y).
      assert (0 <= v * d) by nra.
      apply excess_of_least; lra.
    - destruct K as [Km [Kn Kr]]. cbn [over].
      assert (admitted : (0 <= d - delta (spent m)) ->
                (forall o, In o (outcomes (spent m)) ->
                   0 <= e - cost (spent m) o \/ 0 <= r - rho m) ->
                total (fun o => over (next o) (e - cost (spent m) o) (d - delta (spent m))
                                  (r - rho m) (w * p (spent m) o) (z * q (spent m) o))
                      (outcomes (spent m))
                <= w - v + v * d + peak * moment v y * exp (alpha * (alpha - 1) * r)).
      { intros D' ER'. destruct Km as [C [T [L [D0 [R0 M]]]]].
        set (k := peak * moment v y * exp (alpha * (alpha - 1) * (r - rho m))).
        apply Rle_trans with
          (total (fun o => w * p (spent m) o
                           + (- (v * (1 - (d - delta (spent m)))) * part_p m o
                              + k * moment (part_p m o) (part_q m o)))
                 (outcomes (spent m))).
        - apply total_le. intros o Ho. destruct (C o Ho) as [C1 [C2 [C3 C4]]].
          pose proof (exp_pos (cost (spent m) o)) as X. pose proof (exp_pos e) as Xe.
          assert (pos : 0 < part_p m o -> 0 < part_q m o) by (intros; nra).
          assert (posv : 0 < v -> 0 < y) by (intros; nra).
          replace (w * p (spent m) o
                   + (- (v * (1 - (d - delta (spent m)))) * part_p m o
                      + k * moment (part_p m o) (part_q m o)))
            with (w * p (spent m) o - v * part_p m o + v * part_p m o * (d - delta (spent m))
                  + peak * moment (v * part_p m o) (y * part_q m o)
                    * exp (alpha * (alpha - 1) * (r - rho m)))
            by (rewrite moment_mult by (try assumption; lra); unfold k; ring).
          apply IH; try (apply Kn); try assumption; try (apply ER'; assumption).
          + split; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat; lra.
          + split; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat; lra.
          + (* The factor of the outcome takes its cost. *)
            replace (e - cost (spent m) o) with (e + - cost (spent m) o) by ring.
            rewrite exp_plus, exp_Ropp.
            apply Rmult_le_reg_l with (exp (cost (spent m) o)); [assumption|].
            replace (exp (cost (spent m) o)
                     * (v * part_p m o * (exp e * / exp (cost (spent m) o))))
              with (v * exp e * part_p m o) by (field; lra).
            apply Rle_trans with (y * part_p m o); [apply Rmult_le_compat_r; lra|].
            replace (exp (cost (spent m) o) * (y * part_q m o))
              with (y * (exp (cost (spent m) o) * part_q m o)) by ring.
            apply Rmult_le_compat_l; lra.
        - rewrite !total_plus, !total_scale.
          set (S := total (part_p m) (outcomes (spent m))) in *.
          set (S1 := total (p (spent m)) (outcomes (spent m))) in *.
          assert (Sle : S <= S1).
          { apply total_le. intros o Ho. destruct (C o Ho) as [C1 _]. lra. }
          assert (X0 : exp (alpha * (alpha - 1) * r)
                       = exp (alpha * (alpha - 1) * (r - rho m))
                         * exp (alpha * (alpha - 1) * rho m)).
          { rewrite <- exp_plus. f_equal. ring. }
          assert (k0 : 0 <= k).
          { unfold k. pose proof (moment_nonneg v y).
            pose proof (exp_pos (alpha * (alpha - 1) * (r - rho m))).
            apply Rmult_le_pos; [apply Rmult_le_pos|]; lra. }
          assert (B : k * total (fun o => moment (part_p m o) (part_q m o)) (outcomes (spent m))
                      <= peak * moment v y * exp (alpha * (alpha - 1) * r)).
          { rewrite X0. unfold k in *. rewrite <- Rmult_assoc.
            apply Rmult_le_compat_l; assumption. }
          assert (A : w * S1 + - (v * (1 - (d - delta (spent m)))) * S <= w - v + v * d).
          { assert (0 <= d - delta (spent m)) by assumption.
            assert (v * S * (d - delta (spent m)) <= v * (d - delta (spent m))).
            { apply Rmult_le_compat_r; [assumption|]. rewrite <- (Rmult_1_r v) at 2.
              apply Rmult_le_compat_l; lra. }
            assert (v * (1 - delta (spent m)) <= v * S) by (apply Rmult_le_compat_l; lra).
            assert (w * S1 <= w) by nra. nra. }
          lra. }
      destruct (Rle_dec (delta (spent m)) d) as [Dm|_]; [|apply IHr; assumption].
      destruct Km as [C Km'].
      destruct (Rle_dec (epsilon (spent m)) e) as [E|_].
      + apply admitted; [lra|]. intros o Ho. destruct (C o Ho) as [_ [_ [_ C4]]]. left. lra.
      + destruct (Rle_dec (rho m) r) as [E|_]; [|apply IHr; assumption].
        apply admitted; [lra|]. intros o _. right. lra.
  Qed.

  (** All transcripts together, refusals included, are (epsilon, delta)-indistinguishable for the
      sum of both deltas: what failures were worth, and what rho converts to. *)
  Theorem filter_with_zcdp_is_private (s : @strategy O release_with_rho) (e d r : R) :
    all_keep s -> 0 <= e -> 0 <= d ->
    over s e d r 1 (exp e)
    <= d + peak * exp (alpha * (alpha - 1) * r - (alpha - 1) * e).
  Proof.
    intros K E D.
    pose proof (over_step s e d r 1 (exp e) 1 (exp e) K D (or_introl E) ltac:(lra)
                  ltac:(pose proof (exp_pos e); lra) ltac:(lra)) as H.
    assert (M : moment 1 (exp e) = exp (- ((alpha - 1) * e))).
    { unfold moment. destruct (Rle_dec 1 0); [lra|].
      unfold Rpower. rewrite ln_1, ln_exp, Rmult_0_r, exp_0, Rmult_1_l. f_equal. ring. }
    rewrite M in H.
    replace (alpha * (alpha - 1) * r - (alpha - 1) * e)
      with (- ((alpha - 1) * e) + alpha * (alpha - 1) * r) by ring.
    rewrite exp_plus. lra.
  Qed.
End Zcdp.

Print Assumptions filter_with_zcdp_is_private.
