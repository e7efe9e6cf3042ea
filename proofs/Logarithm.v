(** Bounds of natural logarithms in integers, from the series of artanh. *)

Require Import Reals ZArith List Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(** A quotient rounded up, and one by 2^p. *)
Definition up (a b : Z) : Z := (- (- a / b))%Z.
Definition up_shift (a p : Z) : Z := (- Z.shiftr (- a) p)%Z.

(** Bounds of c (y^odd/odd + y^(odd + 2)/(odd + 2) + ...) for y at most 1/3, from those of c y^odd
    and of 2^p y^2. *)
Fixpoint series (terms : nat) (p square_low square_high odd low high : Z) : Z * Z :=
  match terms with
  | O => (0, 2 * high)%Z
  | S terms =>
      let (l, h) := series terms p square_low square_high (odd + 2)
                      (Z.shiftr (low * square_low) p) (up_shift (high * square_high) p) in
      (low / odd + l, up high odd + h)%Z
  end.

(** Bounds of 2^p ln((1 + y)/(1 - y)) for y = num/den. *)
Definition log_ratio (num den p : Z) : Z * Z :=
  let low := (Z.shiftl num p / den)%Z in
  let high := up (Z.shiftl num p) den in
  series (Z.to_nat (p / 3 + 1)) p (Z.shiftr (low * low) p) (up_shift (high * high) p)
    1 (2 * low) (2 * high).

(** Bounds of -2^p ln(w/2^b) for w > 0. *)
Definition minus_log (w b p : Z) : Z * Z :=
  let size := (Z.log2 w + 1)%Z in
  let full := (2 ^ size)%Z in
  let (l, h) := log_ratio (full - w) (full + w) p in
  let twos := (b - size)%Z in
  let (l2, h2) := if (twos =? 0)%Z then (0, 0)%Z else log_ratio 1 3 p in
  (Z.min (twos * l2) (twos * h2) + l, Z.max (twos * l2) (twos * h2) + h)%Z.

Lemma up_above a b : (0 < b)%Z -> IZR a / IZR b <= IZR (up a b).
Proof.
  intros B. unfold up. rewrite opp_IZR.
  pose proof (Z.mul_div_le (- a) b B) as H. apply IZR_le in H.
  rewrite mult_IZR, opp_IZR in H. apply IZR_lt in B.
  apply Rmult_le_reg_r with (IZR b); [assumption|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma down_below a b : (0 < b)%Z -> IZR (a / b) <= IZR a / IZR b.
Proof.
  intros B. pose proof (Z.mul_div_le a b B) as H. apply IZR_le in H. rewrite mult_IZR in H.
  apply IZR_lt in B. apply Rmult_le_reg_r with (IZR b); [assumption|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma shift_below a p : (0 <= p)%Z -> IZR (Z.shiftr a p) <= IZR a / IZR (2 ^ p).
Proof.
  intros P. rewrite Z.shiftr_div_pow2 by assumption. apply down_below.
  apply Z.pow_pos_nonneg; lia.
Qed.

Lemma shift_above a p : (0 <= p)%Z -> IZR a / IZR (2 ^ p) <= IZR (up_shift a p).
Proof.
  intros P. unfold up_shift. rewrite Z.shiftr_div_pow2 by assumption. apply up_above.
  apply Z.pow_pos_nonneg; lia.
Qed.

(** Terms of the series of artanh from the j-th on, and their derivatives. *)
Fixpoint terms_of (y : R) (j m : nat) : R :=
  match m with
  | O => 0
  | S m => y ^ (2 * j + 1) / INR (2 * j + 1) + terms_of y (S j) m
  end.

Fixpoint slopes_of (y : R) (j m : nat) : R :=
  match m with
  | O => 0
  | S m => y ^ (2 * j) + slopes_of y (S j) m
  end.

Lemma terms_derivative y j m : is_derive (fun y => terms_of y j m) y (slopes_of y j m).
Proof.
  revert j. induction m as [|m IH]; intros j; cbn [terms_of slopes_of].
  - apply (is_derive_const (0 : R) y).
  - apply (is_derive_plus (fun y => y ^ (2 * j + 1) / INR (2 * j + 1))); [|apply IH].
    assert (P : INR (2 * j + 1) <> 0) by (apply not_0_INR; lia).
    auto_derive; [trivial|].
    rewrite Nat.add_1_r in *. cbn [Init.Nat.pred]. change (j + (j + 0))%nat with (2 * j)%nat. field.
    assumption.
Qed.

Lemma slopes_sum y j m : (1 - y * y) * slopes_of y j m = y ^ (2 * j) - y ^ (2 * (j + m)).
Proof.
  revert j. induction m as [|m IH]; intros j; cbn [slopes_of].
  - replace (j + 0)%nat with j by lia. ring.
  - rewrite Rmult_plus_distr_l, IH. replace (2 * (S j + m))%nat with (2 * (j + S m))%nat by lia.
    replace (2 * S j)%nat with (2 * j + 2)%nat by lia. rewrite pow_add. ring.
Qed.

(** The series and its rest. *)
Lemma log_by_series y m :
  0 <= y <= / 3 ->
  2 * terms_of y 0 m <= ln ((1 + y) / (1 - y)) <= 2 * terms_of y 0 m + 4 * y ^ (2 * m + 1).
Proof.
  intros Y.
  set (f := fun t => ln ((1 + t) / (1 - t)) - 2 * terms_of t 0 m).
  set (df := fun t => 2 * / (1 - t * t) * t ^ (2 * m)).
  assert (D : forall t, 0 <= t <= y -> is_derive f t (df t)).
  { intros t T. unfold f, df.
    replace (2 * / (1 - t * t) * t ^ (2 * m))
      with (2 / (1 - t * t) - 2 * slopes_of t 0 m).
    - apply (is_derive_minus (fun t => ln ((1 + t) / (1 - t))) (fun t => 2 * terms_of t 0 m)).
      + auto_derive.
        * split; [lra|]. split; [|trivial]. apply Rdiv_lt_0_compat; lra.
        * field. split; [nra|]. split; lra.
      + apply (is_derive_scal (fun t => terms_of t 0 m)), terms_derivative.
    - pose proof (slopes_sum t 0 m) as E. simpl (2 * 0)%nat in E.
      replace (0 + m)%nat with m in E by lia. rewrite pow_O in E.
      assert (t * t < 1) by nra.
      replace (slopes_of t 0 m) with ((1 - t ^ (2 * m)) / (1 - t * t)).
      + field. lra.
      + rewrite <- E. field. lra. }
  destruct (MVT_gen f 0 y df) as [c [C E]].
  - rewrite Rmin_left, Rmax_right by lra. intros t T. apply D. lra.
  - rewrite Rmin_left, Rmax_right by lra. intros t T. apply continuity_pt_filterlim.
    apply (ex_derive_continuous f). exists (df t). apply D. lra.
  - rewrite Rmin_left, Rmax_right in C by lra.
    assert (Z : f 0 = 0).
    { unfold f. assert (terms_of 0 0 m = 0).
      { assert (forall j, terms_of 0 j m = 0) as A; [|apply A].
        clear. induction m as [|m IH]; intros j; cbn [terms_of]; [reflexivity|].
        rewrite IH, pow_i by lia. unfold Rdiv. ring. }
      rewrite H. replace ((1 + 0) / (1 - 0)) with 1 by field. rewrite ln_1. ring. }
    rewrite Z in E. replace (f y - 0) with (f y) in E by ring.
    replace (y - 0) with y in E by ring.
    assert (B : 0 <= df c * y <= 4 * y ^ (2 * m + 1)).
    { unfold df. assert (c * c <= / 9) by nra.
      assert (I : 0 < / (1 - c * c) <= 2).
      { split; [apply Rinv_0_lt_compat; lra|]. rewrite <- (Rinv_inv 2).
        apply Rinv_le_contravar; lra. }
      assert (0 <= c ^ (2 * m) <= y ^ (2 * m)).
      { split; [apply pow_le; lra|]. apply pow_incr. lra. }
      rewrite pow_add, pow_1. set (q := / (1 - c * c)) in *.
      set (u := c ^ (2 * m)) in *. set (v := y ^ (2 * m)) in *.
      assert (0 <= q * u <= 2 * v) by (split; nra).
      split; [|]; nra. }
    unfold f in E. lra.
Qed.

Lemma series_bounds terms p square_low square_high odd low high j c y :
  (0 <= p)%Z -> 0 <= c -> 0 <= y -> odd = (2 * Z.of_nat j + 1)%Z ->
  (0 <= square_low)%Z -> (0 <= low)%Z ->
  IZR square_low <= IZR (2 ^ p) * (y * y) <= IZR square_high ->
  IZR low <= c * y ^ (2 * j + 1) <= IZR high ->
  let (l, h) := series terms p square_low square_high odd low high in
  IZR l <= c * terms_of y j terms
  /\ c * (terms_of y j terms + 2 * y ^ (2 * (j + terms) + 1)) <= IZR h.
Proof.
  intros P C Y. assert (Pp : 0 < IZR (2 ^ p)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  revert odd low high j.
  induction terms as [|terms IH]; intros odd low high j O S0 L0 S B; cbn [series terms_of].
  - rewrite mult_IZR. replace (j + 0)%nat with j by lia. lra.
  - specialize (IH (odd + 2)%Z (Z.shiftr (low * square_low) p) (up_shift (high * square_high) p)
                  (Datatypes.S j) ltac:(lia) S0).
    destruct (series terms p square_low square_high (odd + 2) _ _) as [l h].
    assert (step : c * y ^ (2 * Datatypes.S j + 1) = c * y ^ (2 * j + 1) * (y * y)).
    { replace (2 * Datatypes.S j + 1)%nat with (2 * j + 1 + 2)%nat by lia. rewrite pow_add. ring. }
    assert (unit_ : c * y ^ (2 * j + 1) * (y * y)
                    = c * y ^ (2 * j + 1) * (IZR (2 ^ p) * (y * y)) / IZR (2 ^ p))
      by (field; lra).
    assert (I : 0 < / IZR (2 ^ p)) by (apply Rinv_0_lt_compat; assumption).
    assert (0 <= y ^ (2 * j + 1)) by (apply pow_le; assumption).
    assert (0 <= c * y ^ (2 * j + 1)) by (apply Rmult_le_pos; assumption).
    assert (0 <= IZR low) by (apply IZR_le; assumption).
    assert (0 <= IZR square_low) by (apply IZR_le; assumption).
    destruct IH as [L H3]; [|assumption| |].
    { rewrite Z.shiftr_div_pow2 by assumption.
      apply Z.div_pos; [nia|apply Z.pow_pos_nonneg; lia]. }
    { rewrite step, unit_. split.
      - eapply Rle_trans; [apply shift_below; assumption|]. rewrite mult_IZR.
        apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat; lra.
      - eapply Rle_trans; [|apply shift_above; assumption]. rewrite mult_IZR.
        apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat; nra. }
    assert (Ho : (0 < odd)%Z) by lia.
    assert (o : IZR odd = INR (2 * j + 1)).
    { rewrite O, INR_IZR_INZ. f_equal. lia. }
    assert (o1 : 0 < / INR (2 * j + 1)).
    { apply Rinv_0_lt_compat. rewrite <- o. apply IZR_lt. assumption. }
    pose proof (down_below low odd Ho) as A1. pose proof (up_above high odd Ho) as A2.
    rewrite o in A1, A2. rewrite !plus_IZR.
    replace (2 * (j + Datatypes.S terms) + 1)%nat with (2 * (Datatypes.S j + terms) + 1)%nat by lia.
    assert (C1 : IZR low / INR (2 * j + 1) <= c * (y ^ (2 * j + 1) / INR (2 * j + 1))).
    { unfold Rdiv. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; lra. }
    assert (C2 : c * (y ^ (2 * j + 1) / INR (2 * j + 1)) <= IZR high / INR (2 * j + 1)).
    { unfold Rdiv. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; lra. }
    rewrite !Rmult_plus_distr_l in *. split; lra.
Qed.

Lemma log_ratio_bounds num den p :
  (0 <= num)%Z -> (0 < den)%Z -> (3 * num <= den)%Z -> (0 <= p)%Z ->
  let (l, h) := log_ratio num den p in
  let y := IZR num / IZR den in
  IZR l <= IZR (2 ^ p) * ln ((1 + y) / (1 - y)) <= IZR h.
Proof.
  intros Hn Hd Hy Hp. unfold log_ratio. set (m := Z.to_nat (p / 3 + 1)).
  assert (P : 0 < IZR (2 ^ p)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  assert (I : 0 < / IZR (2 ^ p)) by (apply Rinv_0_lt_compat; assumption).
  set (low := (Z.shiftl num p / den)%Z). set (high := up (Z.shiftl num p) den).
  set (y := IZR num / IZR den).
  assert (Y : 0 <= y <= / 3).
  { unfold y. apply IZR_le in Hn. apply IZR_lt in Hd. apply IZR_le in Hy.
    rewrite mult_IZR in Hy. split.
    - apply Rmult_le_pos; [assumption|]. left. apply Rinv_0_lt_compat. assumption.
    - apply Rmult_le_reg_r with (IZR den); [assumption|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (scaled : IZR (Z.shiftl num p) / IZR den = IZR (2 ^ p) * y).
  { rewrite Z.shiftl_mul_pow2, mult_IZR by assumption. unfold y, Rdiv. ring. }
  assert (A1 : IZR low <= IZR (2 ^ p) * y) by (rewrite <- scaled; apply down_below; assumption).
  assert (A2 : IZR (2 ^ p) * y <= IZR high) by (rewrite <- scaled; apply up_above; assumption).
  assert (L0 : (0 <= low)%Z).
  { apply Z.div_pos; [|assumption]. apply Z.shiftl_nonneg. assumption. }
  assert (L0' : 0 <= IZR low) by (apply IZR_le; assumption).
  assert (square : IZR (2 ^ p) * (y * y) = IZR (2 ^ p) * y * (IZR (2 ^ p) * y) / IZR (2 ^ p))
    by (field; lra).
  assert (0 <= IZR (2 ^ p) * y) by nra.
  pose proof (series_bounds m p (Z.shiftr (low * low) p) (up_shift (high * high) p) 1
                (2 * low) (2 * high) 0 (2 * IZR (2 ^ p)) y Hp ltac:(lra) ltac:(lra) eq_refl) as S.
  destruct (series m p _ _ 1 _ _) as [l h]. cbv zeta.
  destruct S as [L H1].
  - rewrite Z.shiftr_div_pow2 by assumption.
    apply Z.div_pos; [nia|apply Z.pow_pos_nonneg; lia].
  - lia.
  - rewrite square. split.
    + eapply Rle_trans; [apply shift_below; assumption|]. rewrite mult_IZR.
      apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat; lra.
    + eapply Rle_trans; [|apply shift_above; assumption]. rewrite mult_IZR.
      apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat; lra.
  - rewrite !mult_IZR. change (2 * 0 + 1)%nat with 1%nat. rewrite pow_1. lra.
  - destruct (log_by_series y m Y) as [B1 B2].
    replace (2 * (0 + m) + 1)%nat with (2 * m + 1)%nat in H1 by lia. split; nra.
Qed.

Lemma ln_power_of_two b : (0 <= b)%Z -> ln (IZR (2 ^ b)) = IZR b * ln 2.
Proof.
  intros B. rewrite <- (Z2Nat.id b) by assumption. set (m := Z.to_nat b).
  rewrite <- pow_IZR, ln_pow, INR_IZR_INZ by lra. reflexivity.
Qed.

Lemma minus_log_bounds w b p :
  (0 < w)%Z -> (0 <= b)%Z -> (0 <= p)%Z ->
  IZR (fst (minus_log w b p)) <= IZR (2 ^ p) * - ln (IZR w / IZR (2 ^ b))
    <= IZR (snd (minus_log w b p)).
Proof.
  intros W0 B P. unfold minus_log. set (size := (Z.log2 w + 1)%Z).
  destruct (Z.log2_spec w W0) as [L1 L2]. fold (Z.succ (Z.log2 w)) in L2.
  assert (S0 : (0 <= Z.log2 w)%Z) by apply Z.log2_nonneg.
  set (full := (2 ^ size)%Z).
  assert (F : full = (2 * 2 ^ Z.log2 w)%Z).
  { unfold full, size. rewrite Z.pow_add_r by lia.
    change (2 ^ 1)%Z with 2%Z. lia. }
  assert (F2 : (w < full)%Z) by (unfold full, size; apply L2).
  pose proof (log_ratio_bounds (full - w) (full + w) p ltac:(lia) ltac:(lia) ltac:(lia) P) as A.
  destruct (log_ratio (full - w) (full + w) p) as [l h]. cbv zeta in *.
  set (twos := (b - size)%Z).
  assert (W : 0 < IZR w) by (apply IZR_lt; assumption).
  assert (Fu : 0 < IZR full) by (apply IZR_lt; lia).
  replace ((1 + IZR (full - w) / IZR (full + w)) / (1 - IZR (full - w) / IZR (full + w)))
    with (IZR full / IZR w) in A
    by (rewrite minus_IZR, plus_IZR; field; repeat split; lra).
  assert (E : - ln (IZR w / IZR (2 ^ b)) = IZR twos * ln 2 + ln (IZR full / IZR w)).
  { assert (Pb : 0 < IZR (2 ^ b)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
    unfold Rdiv. rewrite !ln_mult, !ln_Rinv by (try apply Rinv_0_lt_compat; assumption).
    unfold full, twos. rewrite !ln_power_of_two, minus_IZR by lia. ring. }
  rewrite E. clear E.
  assert (T0 : twos = 0%Z \/ twos <> 0%Z) by lia. destruct T0 as [T0|T0].
  { rewrite T0. cbn [Z.eqb fst snd Z.mul Z.min Z.max Z.compare Z.add].
    rewrite Rmult_0_l, Rplus_0_l. exact A. }
  rewrite (proj2 (Z.eqb_neq twos 0) T0).
  pose proof (log_ratio_bounds 1 3 p ltac:(lia) ltac:(lia) ltac:(lia) P) as A2.
  destruct (log_ratio 1 3 p) as [l2 h2]. cbv zeta in A2. cbn [fst snd].
  replace ((1 + 1 / 3) / (1 - 1 / 3)) with 2 in A2 by field.
  rewrite !plus_IZR.
  (* The bounds of twos * ln 2, whatever its sign. *)
  assert (S : IZR (Z.min (twos * l2) (twos * h2)) <= IZR (2 ^ p) * (IZR twos * ln 2)
              <= IZR (Z.max (twos * l2) (twos * h2))).
  { replace (IZR (2 ^ p) * (IZR twos * ln 2)) with (IZR twos * (IZR (2 ^ p) * ln 2)) by ring.
    destruct (Z.le_gt_cases 0 twos) as [T|T].
    - assert (0 <= IZR twos) by (apply IZR_le; assumption).
      split.
      + apply Rle_trans with (IZR (twos * l2)); [apply IZR_le, Z.le_min_l|].
        rewrite mult_IZR. nra.
      + apply Rle_trans with (IZR (twos * h2)); [|apply IZR_le, Z.le_max_r].
        rewrite mult_IZR. nra.
    - assert (IZR twos < 0) by (apply IZR_lt; lia).
      split.
      + apply Rle_trans with (IZR (twos * h2)); [apply IZR_le, Z.le_min_r|].
        rewrite mult_IZR. nra.
      + apply Rle_trans with (IZR (twos * l2)); [|apply IZR_le, Z.le_max_l].
        rewrite mult_IZR. nra. }
  rewrite Rmult_plus_distr_l. lra.
Qed.
