(** Permute-and-flip as it is drawn: the largest score with exponential noise, whose bits are
    read as far as they decide. Bounds of logarithms in integers, and the law. *)

Require Import Reals ZArith QArith Qreals List Lra Lia Bool Psatz Sorting.Sorted.
Require FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
Require Import UnitScores PermuteAndFlip Inversion LazyNoise LazyLaw.
Import ListNotations.
Open Scope R_scope.

(** ** Bounds of logarithms *)

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

(** Bounds of -2^p ln(w/2^b) for 0 < w < 2^b. *)
Definition minus_log (w b p : Z) : Z * Z :=
  let size := (Z.log2 w + 1)%Z in
  let full := (2 ^ size)%Z in
  let (l, h) := log_ratio (full - w) (full + w) p in
  let (l2, h2) := log_ratio 1 3 p in
  ((b - size) * l2 + l, (b - size) * h2 + h)%Z.

(** Bounds of a number plus the scale times -ln u, for all u that begin with the bits w. *)
Definition exponential_bound (number : nat -> Z) (scale : Q) (i : nat) (b w : Z) :
    option Q * option Q :=
  let p := (b + 8)%Z in
  let noisy := fun e => (inject_Z (number i) + scale * (e # Z.to_pos (2 ^ p)))%Q in
  (Some (noisy (if (w + 1 <? 2 ^ b)%Z then fst (minus_log (w + 1) b p) else 0%Z)),
   if (0 <? w)%Z then Some (noisy (snd (minus_log w b p))) else None).

(** The k candidates that are drawn, from [initial 2^depth] bits of each as a number. *)
Definition permute_and_flip_drawn (initial : Z) (depth n k : nat) (number : nat -> Z) (scale : Q)
    (words : list Z) : option (list nat) :=
  let look := fun i j =>
    let b := bits initial j in
    let word := (nth i words 0 / 2 ^ (bits initial depth - b))%Z in
    let ends := exponential_bound number scale i b word in
    Known i j (fst ends) (snd ends) in
  draw look depth n k.

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

Lemma minus_log_bounds w b p :
  (0 < w < 2 ^ b)%Z -> (0 <= b)%Z -> (0 <= p)%Z ->
  IZR (fst (minus_log w b p)) <= IZR (2 ^ p) * - ln (IZR w / IZR (2 ^ b))
    <= IZR (snd (minus_log w b p)).
Proof.
  intros [W0 W1] B P. unfold minus_log. set (size := (Z.log2 w + 1)%Z).
  destruct (Z.log2_spec w W0) as [L1 L2]. fold (Z.succ (Z.log2 w)) in L2.
  assert (S0 : (0 <= Z.log2 w)%Z) by apply Z.log2_nonneg.
  assert (Sb : (size <= b)%Z).
  { unfold size. assert (Z.log2 w < b)%Z; [|lia].
    apply (Z.pow_lt_mono_r_iff 2); lia. }
  set (full := (2 ^ size)%Z).
  assert (F : full = (2 * 2 ^ Z.log2 w)%Z).
  { unfold full, size. rewrite Z.pow_add_r by lia.
    change (2 ^ 1)%Z with 2%Z. lia. }
  assert (F2 : (w < full)%Z) by (unfold full, size; apply L2).
  pose proof (log_ratio_bounds (full - w) (full + w) p ltac:(lia) ltac:(lia) ltac:(lia) P) as A.
  pose proof (log_ratio_bounds 1 3 p ltac:(lia) ltac:(lia) ltac:(lia) P) as A2.
  destruct (log_ratio (full - w) (full + w) p) as [l h].
  destruct (log_ratio 1 3 p) as [l2 h2]. cbv zeta in A, A2. cbn [fst snd].
  assert (W : 0 < IZR w) by (apply IZR_lt; assumption).
  assert (Fu : 0 < IZR full) by (apply IZR_lt; lia).
  replace ((1 + IZR (full - w) / IZR (full + w)) / (1 - IZR (full - w) / IZR (full + w)))
    with (IZR full / IZR w) in A
    by (rewrite minus_IZR, plus_IZR; field; repeat split; lra).
  replace ((1 + 1 / 3) / (1 - 1 / 3)) with 2 in A2 by field.
  assert (E : - ln (IZR w / IZR (2 ^ b)) = IZR (b - size) * ln 2 + ln (IZR full / IZR w)).
  { assert (Pb : IZR (2 ^ b) = IZR (2 ^ (b - size)) * IZR full).
    { unfold full. rewrite <- mult_IZR, <- Z.pow_add_r by lia. f_equal. f_equal. lia. }
    assert (Pd : 0 < IZR (2 ^ (b - size))) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
    assert (G : ln (IZR (2 ^ (b - size))) = IZR (b - size) * ln 2).
    { rewrite <- (Z2Nat.id (b - size)) by lia. set (m := Z.to_nat (b - size)).
      rewrite <- pow_IZR, ln_pow, INR_IZR_INZ by lra. reflexivity. }
    rewrite <- G, <- ln_mult by (try assumption; apply Rdiv_lt_0_compat; assumption).
    rewrite <- ln_Rinv by (apply Rdiv_lt_0_compat; [assumption|]; rewrite Pb; nra).
    f_equal. rewrite Pb. field. repeat split; lra. }
  rewrite E, !plus_IZR, !mult_IZR.
  assert (0 <= IZR (b - size)) by (apply IZR_le; lia).
  rewrite !Rmult_plus_distr_l. split; nra.
Qed.

(** ** The law *)

Section Law.
  Context (number : nat -> Z) (scale : Q).
  Hypothesis scale_pos : 0 < Q2R scale.

  Definition noisy_score (i : nat) (u : R) : R := IZR (number i) + Q2R scale * - ln u.

  Lemma exponential_bound_holds i b w u :
    (0 < b)%Z -> 0 < u < 1 -> begins u w b ->
    (forall l, fst (exponential_bound number scale i b w) = Some l -> Q2R l <= noisy_score i u)
    /\ (forall h, snd (exponential_bound number scale i b w) = Some h -> noisy_score i u <= Q2R h).
  Proof.
    intros B [U0 U1] [W0 W1]. unfold exponential_bound. cbn [fst snd].
    set (p := (b + 8)%Z). assert (P : (0 <= p)%Z) by lia.
    assert (Pp : (0 < 2 ^ p)%Z) by (apply Z.pow_pos_nonneg; lia).
    assert (P' : 0 < IZR (2 ^ p)) by (apply IZR_lt; assumption).
    assert (Bb : 0 < IZR (2 ^ b)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
    assert (value : forall e, Q2R (inject_Z (number i) + scale * (e # Z.to_pos (2 ^ p)))
                              = IZR (number i) + Q2R scale * (IZR e / IZR (2 ^ p))).
    { intros e. rewrite Q2R_plus, Q2R_mult. f_equal; [unfold Q2R; simpl; field|].
      f_equal. unfold Q2R. cbn [Qnum Qden]. rewrite Z2Pos.id by assumption. reflexivity. }
    assert (w0 : (0 <= w)%Z).
    { apply Z.lt_succ_r. apply lt_IZR. rewrite succ_IZR. nra. }
    assert (wb : (w < 2 ^ b)%Z) by (apply lt_IZR; nra).
    unfold noisy_score. split.
    - intros l E. injection E as <-. rewrite value.
      apply Rplus_le_compat_l, Rmult_le_compat_l; [lra|].
      apply Rmult_le_reg_l with (IZR (2 ^ p)); [assumption|].
      replace (IZR (2 ^ p) * (IZR (if (w + 1 <? 2 ^ b)%Z then fst (minus_log (w + 1) b p) else 0%Z)
               / IZR (2 ^ p)))
        with (IZR (if (w + 1 <? 2 ^ b)%Z then fst (minus_log (w + 1) b p) else 0%Z))
        by (field; lra).
      destruct (Z.ltb_spec (w + 1) (2 ^ b)) as [L|L].
      + destruct (minus_log_bounds (w + 1) b p ltac:(lia) ltac:(lia) P) as [H _].
        apply Rle_trans with (1 := H). apply Rmult_le_compat_l; [lra|].
        apply Ropp_le_contravar. apply ln_le; [assumption|].
        apply Rmult_le_reg_r with (IZR (2 ^ b)); [assumption|].
        unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. rewrite plus_IZR. lra.
      + apply Rmult_le_pos; [lra|]. pose proof (ln_le u 1 U0 ltac:(lra)). rewrite ln_1 in H. lra.
    - destruct (Z.ltb_spec 0 w) as [L|L]; [|discriminate].
      intros h E. injection E as <-. rewrite value.
      apply Rplus_le_compat_l, Rmult_le_compat_l; [lra|].
      apply Rmult_le_reg_l with (IZR (2 ^ p)); [assumption|].
      replace (IZR (2 ^ p) * (IZR (snd (minus_log w b p)) / IZR (2 ^ p)))
        with (IZR (snd (minus_log w b p))) by (field; lra).
      destruct (minus_log_bounds w b p ltac:(lia) ltac:(lia) P) as [_ H].
      apply Rle_trans with (2 := H). apply Rmult_le_compat_l; [lra|].
      apply Ropp_le_contravar. apply IZR_lt in L. apply ln_le.
      + apply Rdiv_lt_0_compat; assumption.
      + apply Rmult_le_reg_r with (IZR (2 ^ b)); [assumption|].
        unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  Qed.

  (** The least number with which j is below r. *)
  Definition gate (r j : nat) (z : R) : R :=
    Rmin 1 (z * exp ((IZR (number j) - IZR (number r)) / Q2R scale)).

  Lemma gate_range r j z : 0 < z < 1 -> 0 <= gate r j z <= 1.
  Proof.
    intros Z. unfold gate. split; [|apply Rmin_l]. apply Rmin_glb; [lra|].
    pose proof (exp_pos ((IZR (number j) - IZR (number r)) / Q2R scale)). nra.
  Qed.

  Lemma gate_below r j z u :
    0 < z < 1 -> 0 < u < 1 -> noisy_score j u <= noisy_score r z -> gate r j z <= u.
  Proof.
    intros Z U H. unfold gate, noisy_score in *.
    apply Rle_trans with (1 := Rmin_r _ _).
    set (d := (IZR (number j) - IZR (number r)) / Q2R scale).
    assert (L : ln z + d <= ln u).
    { apply Rmult_le_reg_l with (Q2R scale); [assumption|]. unfold d.
      replace (Q2R scale * (ln z + (IZR (number j) - IZR (number r)) / Q2R scale))
        with (Q2R scale * ln z + (IZR (number j) - IZR (number r))) by (field; lra).
      lra. }
    rewrite <- (exp_ln z), <- (exp_ln u), <- exp_plus by lra. apply exp_le. assumption.
  Qed.

  Lemma gate_continuous r j z : continuous (gate r j) z.
  Proof.
    unfold gate. set (q := exp _).
    apply (continuous_ext (fun z => / 2 * (1 + z * q - Rabs (1 - z * q)))).
    { intros x. unfold Rmin, Rabs.
      destruct (Rcase_abs (1 - x * q)), (Rle_dec 1 (x * q)); lra. }
    apply continuity_pt_filterlim.
    apply (continuity_pt_scal (fun z => 1 + z * q - Rabs (1 - z * q))).
    apply (continuity_pt_minus (fun z => 1 + z * q) (fun z => Rabs (1 - z * q))).
    - apply continuity_pt_filterlim, (ex_derive_continuous (fun z => 1 + z * q)).
      auto_derive. trivial.
    - apply (continuity_pt_comp (fun z => 1 - z * q) Rabs).
      + apply continuity_pt_filterlim, (ex_derive_continuous (fun z => 1 - z * q)).
        auto_derive. trivial.
      + apply Rcontinuity_abs.
  Qed.

  Definition all_below (n r : nat) (z : R) : R := F n (gate) r z.

  Lemma all_below_continuous n r z : continuous (all_below n r) z.
  Proof.
    unfold all_below, F. induction (others n r) as [|j l IH]; cbn [prod].
    - apply continuous_const.
    - apply (continuous_mult (fun z => 1 - gate r j z)); [|exact IH].
      apply (continuous_minus (fun _ => 1)); [apply continuous_const|apply gate_continuous].
  Qed.

  Lemma all_below_integrable n r a b : ex_RInt (all_below n r) a b.
  Proof. apply (ex_RInt_continuous (all_below n r)). intros. apply all_below_continuous. Qed.

  Lemma all_below_integral n r a b K :
    a < b -> (forall z, a < z < b -> K <= all_below n r z) ->
    K * (b - a) <= RInt (all_below n r) 0 b - RInt (all_below n r) 0 a.
  Proof.
    intros AB H.
    rewrite <- (RInt_Chasles (all_below n r) 0 a b) by apply all_below_integrable.
    unfold plus; simpl.
    assert (C : RInt (fun _ => K) a b <= RInt (all_below n r) a b).
    { apply RInt_le; [lra|apply ex_RInt_const|apply all_below_integrable|assumption]. }
    rewrite RInt_const in C. unfold scal in C; simpl in C; unfold mult in C; simpl in C. lra.
  Qed.

  (** What the integral is: the chance that permute-and-flip draws r. *)
  Definition score (i : nat) : R := IZR (number i).

  Lemma others_but n r j : In j (others n r) <-> (j < n)%nat /\ j <> r.
  Proof.
    unfold others. rewrite filter_In, in_seq. split.
    - intros [A B]. split; [lia|]. intros ->. rewrite Nat.eqb_refl in B. discriminate.
    - intros [A B]. split; [lia|]. apply negb_true_iff. apply Nat.eqb_neq. assumption.
  Qed.

  Theorem integral_is_permute_and_flip n r largest :
    is_top (others n r) r score largest ->
    RInt (all_below n r) 0 1 = permute_and_flip (others n r) r (2 / Q2R scale) score largest.
  Proof.
    intros Top. set (epsilon := 2 / Q2R scale).
    assert (E0 : 0 < epsilon) by (unfold epsilon; apply Rdiv_lt_0_compat; lra).
    unfold permute_and_flip.
    rewrite reached_is_share by (rewrite map_length; reflexivity).
    set (a := accept epsilon score largest). set (p := a r).
    assert (A : forall j, In j (r :: others n r) -> 0 < a j <= 1).
    { intros j J. destruct (accept_range (others n r) r epsilon E0 score largest j Top J) as [_ U].
      split; [unfold a, accept; apply exp_pos|exact U]. }
    destruct (A r (or_introl eq_refl)) as [P0 P1]. fold p in P0, P1.
    assert (ratio : forall j z, z * exp ((IZR (number j) - IZR (number r)) / Q2R scale)
                                = z / p * a j).
    { intros j z. unfold p, a, accept, Rdiv. rewrite <- exp_Ropp.
      rewrite Rmult_assoc, <- exp_plus. f_equal. f_equal. unfold epsilon, score. field. lra. }
    set (l := others n r) in *.
    (* Below p no gate is shut. *)
    assert (open : forall z, 0 <= z <= p -> all_below n r z = refused (map a l) (z / p)).
    { intros z Z. unfold all_below, F. fold l. clearbody l.
      assert (A' : forall j, In j l -> 0 < a j <= 1) by (intros; apply A; right; assumption).
      clear - A' Z P0 ratio. induction l as [|j l IH]; cbn [prod map refused]; [reflexivity|].
      rewrite IH by (intros; apply A'; right; assumption). f_equal. f_equal.
      unfold gate. rewrite ratio. destruct (A' j (or_introl eq_refl)).
      rewrite Rmin_right; [ring|].
      assert (z / p <= 1).
      { apply Rmult_le_reg_r with p; [assumption|]. unfold Rdiv.
        rewrite Rmult_assoc, Rinv_l by lra. lra. }
      assert (0 <= z / p).
      { apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. assumption. }
      nra. }
    (* Beyond it the best candidate cannot be below. *)
    assert (shut : forall z, p < z < 1 -> all_below n r z = 0).
    { intros z Z. destruct Top as [[j [J E]] _].
      assert (aj : a j = 1).
      { unfold a, accept. rewrite E. replace (largest - largest) with 0 by ring.
        rewrite Rmult_0_r. apply exp_0. }
      destruct J as [->|J]; [unfold p in Z; lra|].
      unfold all_below, F. fold l. revert J. clear - ratio aj Z P0.
      induction l as [|i l IH]; intros J; [destruct J|]. cbn [prod].
      destruct J as [->|J]; [|rewrite (IH J); ring].
      unfold gate. rewrite ratio, aj, Rmin_left; [ring|].
      apply Rmult_le_reg_r with p; [assumption|]. unfold Rdiv. rewrite Rmult_1_r.
      rewrite Rmult_assoc, Rinv_l by lra. lra. }
    rewrite <- (RInt_Chasles (all_below n r) 0 p 1) by apply all_below_integrable.
    assert (Z1 : RInt (all_below n r) p 1 = 0).
    { rewrite (RInt_ext _ (fun _ => 0)).
      - rewrite RInt_const. unfold scal; simpl; unfold mult; simpl. ring.
      - rewrite Rmin_left, Rmax_right by lra. exact shut. }
    rewrite Z1. unfold plus; simpl. rewrite Rplus_0_r. unfold share.
    pose proof (RInt_comp_lin (refused (map a l)) (/ p) 0 0 p) as C.
    replace (/ p * 0 + 0) with 0 in C by ring.
    replace (/ p * p + 0) with 1 in C by (field; lra).
    rewrite <- C by apply refused_integrable.
    transitivity (RInt (fun z => scal p (scal (/ p) (refused (map a l) (/ p * z + 0)))) 0 p).
    - apply RInt_ext. rewrite Rmin_left, Rmax_right by lra. intros z Z.
      rewrite open by lra. unfold scal; simpl; unfold mult; simpl.
      replace (/ p * z + 0) with (z / p) by (unfold Rdiv; ring). field. lra.
    - rewrite (RInt_scal (fun z => scal (/ p) (refused (map a l) (/ p * z + 0)))); [reflexivity|].
      apply (ex_RInt_comp_lin (refused (map a l)) (/ p) 0 0 p). apply refused_integrable.
  Qed.

  Context (initial : Z) (depth n k : nat).
  Hypothesis initial_pos : (0 < initial)%Z.

  Definition drawn (all : list nat) : option (list nat) :=
    permute_and_flip_drawn initial depth n k number scale (map Z.of_nat all).

  Lemma drawn_is all :
    drawn all = draw (look (exponential_bound number scale) initial depth all) depth n k.
  Proof.
    unfold drawn, permute_and_flip_drawn. f_equal.
    apply FunctionalExtensionality.functional_extensionality. intros i.
    apply FunctionalExtensionality.functional_extensionality. intros j.
    cbv zeta. change 0%Z with (Z.of_nat 0). rewrite (map_nth Z.of_nat all 0%nat). reflexivity.
  Qed.

  (** What is drawn are the k largest noisy scores, whatever the unread bits are. *)
  Theorem drawn_are_largest all u l :
    within (top initial depth) n all -> (forall i, inside initial depth (nth i all 0%nat) (u i)) ->
    drawn all = Some l ->
    length l = Nat.min k n /\ NoDup l
    /\ StronglySorted (larger (fun i => noisy_score i (u i))) l
    /\ (forall i, In i l -> (i < n)%nat)
    /\ (forall i j, In i l -> (j < n)%nat -> ~ In j l -> noisy_score j (u j) < noisy_score i (u i)).
  Proof.
    intros W U D. rewrite drawn_is in D.
    exact (draw_is_right (look (exponential_bound number scale) initial depth all) depth
             (fun i => noisy_score i (u i)) (fun i j => eq_refl)
             (fun i j J => look_holds _ initial depth n initial_pos noisy_score
                             exponential_bound_holds all u i j W U J) n k l D).
  Qed.

  Definition drawn_first (r : nat) (all : list nat) : bool :=
    match drawn all with
    | Some (i :: _) => Nat.eqb i r
    | _ => false
    end.

  (** At most the share of permute-and-flip of all strings of bits draws r first. *)
  Theorem drawn_as_often_as_permute_and_flip r largest :
    (r < n)%nat -> is_top (others n r) r score largest ->
    tuples (top initial depth) n (drawn_first r)
    <= N initial depth ^ n * permute_and_flip (others n r) r (2 / Q2R scale) score largest.
  Proof.
    intros R Top. rewrite <- (integral_is_permute_and_flip n r largest Top).
    replace (RInt (all_below n r) 0 1) with
      (law (fun r z => RInt (all_below n r) 0 z) r)
      by (unfold law; rewrite RInt_point; unfold zero; simpl; ring).
    apply Rle_trans with
      (tuples (top initial depth) n
         (draws (exponential_bound number scale) initial depth n k r)).
    - apply tuples_le; [apply top_pos; assumption|]. intros l _ H.
      unfold drawn_first in H. rewrite drawn_is in H. unfold draws, first_drawn.
      destruct (draw _ depth n k) as [[|i rest]|]; try discriminate. exact H.
    - apply no_candidate_is_too_likely with (f := noisy_score) (T := gate); auto.
      + apply exponential_bound_holds.
      + apply gate_range.
      + intros. apply gate_below; assumption.
      + intros. apply all_below_integral; assumption.
  Qed.
End Law.

Print Assumptions drawn_are_largest.
Print Assumptions drawn_as_often_as_permute_and_flip.
