(** The draw by inversion of dpselect.draws.exact.inversion, as a program over random bits.

    Outcome i has a real weight between two integers. A uniform number in [0, 1) is known by its
    first bits. [resolve] says which outcome every number that begins with them is drawn to, or
    that more bits are needed; [resume] reads on until it is decided. Both are extracted, and
    tests hold the Python functions of the same names to them on the same bits. *)

Require Import Reals ZArith List Lra Lia Bool.
Import ListNotations.
Open Scope Z_scope.

(** ** The program *)

(** Running sums of lower and of upper bounds; 0 comes first in [least]. *)
Record weights := Weights { least : list Z; most : list Z; first : Z; beyond : Z }.

Definition place (w : weights) (uniform bits : Z) : nat :=
  let at_ := Z.shiftr (uniform * last (least w) 0) bits in
  Nat.pred (Nat.min (length (filter (fun sum => sum <=? at_) (least w)))
                    (Nat.pred (length (least w)))).

Definition resolve (w : weights) (uniform bits : Z) : option Z :=
  let i := place w uniform bits in
  let start := nth i (most w) 0 in
  let stop := nth (S i) (least w) 0 in
  let rest := last (most w) 0 - nth (S i) (most w) 0 + beyond w in
  if (Z.shiftl start bits <=? uniform * (start + last (least w) 0 - nth i (least w) 0))
     && ((uniform + 1) * (stop + rest) <=? Z.shiftl stop bits)
  then Some (first w + Z.of_nat i) else None.

Fixpoint running (start : Z) (l : list Z) : list Z :=
  start :: match l with [] => [] | x :: rest => running (start + x) rest end.

(** The running sums of lower and upper bounds. *)
Definition of_bounds (lows highs : list Z) (first_ before beyond_ : Z) : weights :=
  Weights (running 0 lows) (running before highs) first_ beyond_.

(** [more b] are the next b bits, as a number; the bounds may depend on the number of bits. *)
Fixpoint resume (rounds : nat) (w : Z -> weights) (more : Z -> Z) (uniform bits : Z) : option Z :=
  match resolve (w bits) uniform bits with
  | Some i => Some i
  | None =>
      match rounds with
      | O => None
      | S rounds => resume rounds w more (Z.lor (Z.shiftl uniform bits) (more bits)) (2 * bits)
      end
  end.

(** ** What it decides *)

Open Scope R_scope.

(** The sum of the weights of the first outcomes. *)
Fixpoint part (w : nat -> R) (i : nat) : R :=
  match i with
  | O => 0
  | S i => part w i + w i
  end.

Lemma part_monotone w i j : (forall k, 0 <= w k) -> (i <= j)%nat -> part w i <= part w j.
Proof.
  intros H L. induction L as [|j L IH]; [lra|]. simpl. specialize (H j). lra.
Qed.

(** [encloses w n v before after]: [w] has bounds for n outcomes of the weights [v], with a sum
    [before] of all outcomes before them and [after] of all after them. *)
Definition encloses (w : weights) (n : nat) (v : nat -> R) (before after : R) : Prop :=
  length (least w) = S n /\ 0 <= before /\ 0 <= after <= IZR (beyond w)
  /\ 0 < IZR (last (least w) 0%Z)
  /\ forall i, (i <= n)%nat ->
     0 <= IZR (nth i (least w) 0%Z) <= part v i
     /\ IZR (last (least w) 0%Z) - IZR (nth i (least w) 0%Z) <= part v n - part v i
     /\ before + part v i <= IZR (nth i (most w) 0%Z)
     /\ part v n - part v i <= IZR (last (most w) 0%Z) - IZR (nth i (most w) 0%Z).

(** [begins u uniform bits]: the number u begins with these bits. *)
Definition begins (u : R) (uniform bits : Z) : Prop :=
  IZR uniform <= u * IZR (2 ^ bits) < IZR uniform + 1.

(** The part of [0, 1) that outcome i of n has, of all weights together. *)
Definition in_part (v : nat -> R) (n : nat) (before after : R) (i : nat) (u : R) : Prop :=
  (before + part v i) <= u * (before + part v n + after) < before + part v (S i).

(** What is decided is decided for every number that begins with the bits, and all weights that
    are within the bounds. *)
Theorem resolve_is_right w n v before after uniform bits i u :
  (forall k, 0 <= v k) -> encloses w n v before after -> (0 <= bits)%Z -> (0 <= uniform)%Z ->
  (0 < n)%nat ->
  resolve w uniform bits = Some i -> begins u uniform bits ->
  exists k, i = (first w + Z.of_nat k)%Z /\ (k < n)%nat /\ in_part v n before after k u.
Proof.
  intros V [L [B [A [T E]]]] Hb Hu Hn R [U1 U2].
  unfold resolve in R. set (k := place w uniform bits) in R.
  assert (K : (k < n)%nat).
  { unfold k, place. rewrite L. simpl. lia. }
  destruct (_ && _) eqn:C in R; [|discriminate]. injection R as R. subst i.
  apply andb_true_iff in C. destruct C as [C1 C2].
  apply Z.leb_le, IZR_le in C1. apply Z.leb_le, IZR_le in C2.
  rewrite Z.shiftl_mul_pow2 in C1, C2 by assumption.
  repeat first [rewrite mult_IZR in C1 | rewrite plus_IZR in C1 | rewrite minus_IZR in C1].
  repeat first [rewrite mult_IZR in C2 | rewrite plus_IZR in C2 | rewrite minus_IZR in C2].
  assert (P : 0 < IZR (2 ^ bits)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  apply IZR_le in Hu.
  destruct (E k (Nat.lt_le_incl _ _ K)) as [E1 [E2 [E3 E4]]].
  destruct (E (S k) K) as [F1 [F2 [F3 F4]]].
  pose proof (part_monotone v 0 k V (Nat.le_0_l _)) as M0. simpl in M0.
  pose proof (part_monotone v k n V (Nat.lt_le_incl _ _ K)) as M1.
  pose proof (part_monotone v (S k) n V K) as M2.
  set (p := IZR (2 ^ bits)) in *. set (t := before + part v n + after) in *.
  set (s := before + part v k) in *. set (e := before + part v (S k)) in *.
  assert (T0 : 0 < t).
  { destruct (E 0%nat (Nat.le_0_l _)) as [G1 [G2 _]]. simpl in G1, G2. unfold t. lra. }
  assert (M3 : s <= e <= t) by (unfold s, e, t; simpl in M2 |- *; specialize (V k); lra).
  exists k. split; [reflexivity|]. split; [assumption|]. unfold in_part. fold t s e. split.
  - (* s p <= start p <= uniform (start + rest), and so it is with s and all that follows. *)
    set (start := IZR (nth k (most w) 0%Z)) in *.
    set (lows := IZR (last (least w) 0%Z) - IZR (nth k (least w) 0%Z)) in *.
    assert (H : s * p <= IZR uniform * t).
    { assert (W : lows <= t - s) by (unfold t, s; lra).
      assert (S0 : 0 <= s) by (unfold s; lra).
      destruct (Rle_lt_dec start 0) as [Z0|Z0].
      - assert (Z1 : s = 0) by lra. rewrite Z1, Rmult_0_l. apply Rmult_le_pos; [assumption|lra].
      - assert (X : start * p <= IZR uniform * (start + lows)) by (unfold lows; lra).
        assert (Q : s * (start + lows) <= start * t).
        { assert (D : s * lows <= start * (t - s)).
          { destruct (Rle_lt_dec lows 0) as [N|N].
            - apply Rle_trans with 0; [|apply Rmult_le_pos; lra].
              pose proof (Rmult_le_compat_l s lows 0 S0 N). lra.
            - apply Rmult_le_compat; lra. }
          lra. }
        assert (Y : start * (s * p) <= start * (IZR uniform * t)).
        { apply Rle_trans with (s * (IZR uniform * (start + lows))).
          - pose proof (Rmult_le_compat_l s _ _ S0 X). lra.
          - pose proof (Rmult_le_compat_l (IZR uniform) _ _ Hu Q). lra. }
        apply Rmult_le_reg_l with start; assumption. }
    apply Rmult_le_reg_r with p; [assumption|].
    pose proof (Rmult_le_compat_l t _ _ (Rlt_le _ _ T0) U1). lra.
  - set (stop := IZR (nth (S k) (least w) 0%Z)) in *.
    set (rest := IZR (last (most w) 0%Z) - IZR (nth (S k) (most w) 0%Z) + IZR (beyond w)) in *.
    assert (W : t - e <= rest) by (unfold t, e, rest; lra).
    assert (S0 : 0 <= stop <= e) by (unfold e; lra).
    pose proof C2 as X. assert (Rn : 0 <= rest) by lra.
    assert (H : (IZR uniform + 1) * t <= e * p).
    { destruct (Rle_lt_dec stop 0) as [Z0|Z0].
      - exfalso. assert (H : stop = 0) by lra.
        assert (0 < t - e).
        { apply Rlt_le_trans with (IZR (last (least w) 0%Z)); [assumption|].
          unfold t, e. lra. }
        assert (0 < (IZR uniform + 1) * (stop + rest)) by (apply Rmult_lt_0_compat; lra).
        assert (stop * p = 0) by (rewrite H; ring). lra.
      - assert (Q : stop * t <= e * (stop + rest)).
        { assert (stop * (t - e) <= e * rest) by (apply Rmult_le_compat; lra). lra. }
        apply Rmult_le_reg_l with stop; [assumption|].
        apply Rle_trans with (e * ((IZR uniform + 1) * (stop + rest))).
        + pose proof (Rmult_le_compat_l (IZR uniform + 1) _ _ ltac:(lra) Q). lra.
        + pose proof (Rmult_le_compat_l e _ _ ltac:(lra) X). lra. }
    apply Rmult_lt_reg_r with p; [assumption|].
    pose proof (Rmult_lt_compat_l t _ _ T0 U2). lra.
Qed.

(** ** The bounds *)

Fixpoint sum (l : list Z) (i : nat) : Z :=
  match i with
  | O => 0%Z
  | S i => (sum l i + nth i l 0)%Z
  end.

Lemma sum_cons x l i : sum (x :: l) (S i) = (x + sum l i)%Z.
Proof. induction i as [|i IH]; [simpl; ring|]. cbn [sum] in *. rewrite IH. simpl. ring. Qed.

Lemma nth_running l start i :
  (i <= length l)%nat -> nth i (running start l) 0%Z = (start + sum l i)%Z.
Proof.
  revert start i. induction l as [|x l IH]; intros start i H.
  - simpl in H. replace i with O by lia. simpl. ring.
  - destruct i as [|i]; [simpl; ring|]. rewrite sum_cons.
    change (nth (S i) (running start (x :: l)) 0%Z) with (nth i (running (start + x) l) 0%Z).
    rewrite IH by (simpl in H; lia). ring.
Qed.

Lemma length_running l start : length (running start l) = S (length l).
Proof.
  revert start. induction l as [|x l IH]; intros start; [reflexivity|]. simpl. rewrite IH.
  reflexivity.
Qed.

Lemma last_running l start : last (running start l) 0%Z = (start + sum l (length l))%Z.
Proof.
  rewrite <- nth_running by lia. rewrite <- (Nat.sub_0_r (length l)) at 1.
  replace (length l - 0)%nat with (length (running start l) - 1)%nat
    by (rewrite length_running; lia).
  destruct (exists_last (l := running start l)) as [front [x E]].
  { destruct l; discriminate. }
  rewrite E, last_last, app_length, app_nth2; simpl; [|lia].
  replace (length front + 1 - 1 - length front)%nat with 0%nat by lia. reflexivity.
Qed.

Lemma between (f g : nat -> R) i n :
  (i <= n)%nat -> (forall j, (j < n)%nat -> f j <= g j) ->
  part f n - part f i <= part g n - part g i.
Proof.
  intros L. induction L as [|n L IH]; intros H; [lra|]. simpl.
  specialize (H n (Nat.lt_succ_diag_r n)) as Hn.
  assert (part f n - part f i <= part g n - part g i) by (apply IH; intros; apply H; lia). lra.
Qed.

Lemma part_of_sum l i : part (fun j => IZR (nth j l 0%Z)) i = IZR (sum l i).
Proof. induction i as [|i IH]; [reflexivity|]. simpl. rewrite IH, plus_IZR. reflexivity. Qed.

(** Integer bounds of each weight, and of the sums before and after, enclose. *)
Theorem of_bounds_encloses lows highs v first_ before beyond_ (B A : R) :
  length highs = length lows ->
  (forall i, (i < length lows)%nat ->
     0 <= IZR (nth i lows 0%Z) <= v i /\ v i <= IZR (nth i highs 0%Z)) ->
  0 < IZR (sum lows (length lows)) ->
  0 <= B <= IZR before -> 0 <= A <= IZR beyond_ ->
  encloses (of_bounds lows highs first_ before beyond_) (length lows) v B A.
Proof.
  intros E H P HB HA. set (n := length lows) in *.
  assert (low : forall i, (i <= n)%nat ->
    part (fun j => IZR (nth j lows 0%Z)) n - part (fun j => IZR (nth j lows 0%Z)) i
    <= part v n - part v i).
  { intros i Hi. apply between; [assumption|]. intros j Hj. apply H. assumption. }
  assert (high : forall i, (i <= n)%nat ->
    part v n - part v i
    <= part (fun j => IZR (nth j highs 0%Z)) n - part (fun j => IZR (nth j highs 0%Z)) i).
  { intros i Hi. apply between; [assumption|]. intros j Hj. apply H. assumption. }
  assert (low0 : forall i, (i <= n)%nat ->
    0 <= part (fun j => IZR (nth j lows 0%Z)) i <= part v i
    /\ part v i <= part (fun j => IZR (nth j highs 0%Z)) i).
  { intros i Hi. induction i as [|i IH]; [simpl; lra|]. simpl.
    destruct (H i Hi) as [H1 H2]. destruct IH as [I1 I2]; [lia|]. lra. }
  unfold encloses, of_bounds. cbn [least most first beyond].
  rewrite !last_running, length_running. rewrite E. fold n. rewrite !plus_IZR.
  split; [reflexivity|]. split; [lra|]. split; [lra|]. split; [simpl; lra|].
  intros i Hi. rewrite !nth_running by (rewrite ?E; fold n; assumption). rewrite !plus_IZR.
  specialize (low i Hi). specialize (high i Hi). specialize (low0 i Hi).
  rewrite !part_of_sum in *. simpl (IZR 0). lra.
Qed.

(** ** Reading on *)

(** The bits that are read after so many more rounds, and their number. *)
Fixpoint read (rounds : nat) (more : Z -> Z) (uniform bits : Z) : Z * Z :=
  match rounds with
  | O => (uniform, bits)
  | S rounds => read rounds more (Z.lor (Z.shiftl uniform bits) (more bits)) (2 * bits)
  end.

Lemma longer u uniform bits more :
  (0 <= bits)%Z -> (0 <= more < 2 ^ bits)%Z ->
  begins u (uniform * 2 ^ bits + more) (2 * bits) -> begins u uniform bits.
Proof.
  intros Hb [M1 M2] [H1 H2]. unfold begins.
  replace (2 * bits)%Z with (bits + bits)%Z in H1, H2 by lia.
  rewrite Z.pow_add_r, mult_IZR, plus_IZR, mult_IZR in H1, H2 by assumption.
  assert (P : 0 < IZR (2 ^ bits)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  apply IZR_le in M1. assert (N : IZR more + 1 <= IZR (2 ^ bits)).
  { rewrite <- plus_IZR. apply IZR_le. lia. }
  split.
  - apply Rmult_le_reg_r with (IZR (2 ^ bits)); [assumption|]. lra.
  - apply Rmult_lt_reg_r with (IZR (2 ^ bits)); [assumption|]. lra.
Qed.

Lemma lor_is_sum uniform bits more :
  (0 <= bits)%Z -> (0 <= more < 2 ^ bits)%Z ->
  Z.lor (Z.shiftl uniform bits) more = (uniform * 2 ^ bits + more)%Z.
Proof.
  intros Hb M. rewrite Z.shiftl_mul_pow2 by assumption.
  assert (D : Z.land (uniform * 2 ^ bits) more = 0%Z).
  { apply Z.bits_inj'. intros n Hn. rewrite Z.land_spec, Z.bits_0.
    destruct (Z_lt_ge_dec n bits) as [L|G].
    - rewrite Z.mul_pow2_bits_low by assumption. reflexivity.
    - replace (Z.testbit more n) with false; [apply andb_false_r|].
      symmetry. destruct (Z.eq_dec more 0) as [E|NZ]; [rewrite E; apply Z.bits_0|].
      apply Z.bits_above_log2; [lia|]. apply Z.log2_lt_pow2; [lia|].
      apply Z.lt_le_trans with (2 ^ bits)%Z; [lia|]. apply Z.pow_le_mono_r; lia. }
  rewrite <- Z.lxor_lor by assumption. rewrite <- Z.add_nocarry_lxor by assumption. reflexivity.
Qed.

Section Resume.
  Context (w : Z -> weights) (n : nat) (v : nat -> R) (before after : R) (start : Z).
  Hypothesis v_nonneg : forall k, 0 <= v k.
  Hypothesis enclosed : forall bits, encloses (w bits) n v before after.
  Hypothesis one_first : forall bits, first (w bits) = start.
  Hypothesis some : (0 < n)%nat.

  Lemma read_begins rounds more uniform bits u :
    (0 <= bits)%Z -> (0 <= uniform)%Z -> (forall b, (0 <= b)%Z -> (0 <= more b < 2 ^ b)%Z) ->
    begins u (fst (read rounds more uniform bits)) (snd (read rounds more uniform bits)) ->
    begins u uniform bits.
  Proof.
    revert uniform bits.
    induction rounds as [|rounds IH]; intros uniform bits Hb Hu M H; [assumption|].
    simpl in H. specialize (M bits Hb) as Mb. rewrite lor_is_sum in H by assumption.
    apply longer with (more bits); auto. apply IH; auto; nia.
  Qed.

  Theorem resume_is_right rounds more uniform bits i u :
    (0 <= bits)%Z -> (0 <= uniform)%Z -> (forall b, (0 <= b)%Z -> (0 <= more b < 2 ^ b)%Z) ->
    resume rounds w more uniform bits = Some i ->
    begins u (fst (read rounds more uniform bits)) (snd (read rounds more uniform bits)) ->
    exists k, i = (start + Z.of_nat k)%Z /\ (k < n)%nat /\ in_part v n before after k u.
  Proof.
    revert uniform bits. induction rounds as [|rounds IH]; intros uniform bits Hb Hu M H U.
    - simpl in H. destruct (resolve (w bits) uniform bits) eqn:R; [|discriminate].
      injection H as H. subst z.
      rewrite <- (one_first bits).
      apply (resolve_is_right (w bits) n v before after uniform bits i u); auto.
    - pose proof (read_begins (S rounds) more uniform bits u Hb Hu M U) as F.
      simpl in H, U. destruct (resolve (w bits) uniform bits) eqn:R.
      + injection H as H. subst z.
        rewrite <- (one_first bits).
        apply (resolve_is_right (w bits) n v before after uniform bits i u); auto.
      + specialize (M bits Hb) as Mb.
        apply (IH (Z.lor (Z.shiftl uniform bits) (more bits)) (2 * bits)%Z); auto; [lia|].
        rewrite lor_is_sum by assumption. nia.
  Qed.
End Resume.

(** ** The distribution *)

(** How many of the numbers below [top] satisfy a test. *)
Fixpoint number (test : nat -> bool) (top : nat) : nat :=
  match top with
  | O => O
  | S top => (number test top + if test top then 1 else 0)%nat
  end.

Lemma number_within test top a c :
  a <= c -> (forall x, (x < top)%nat -> test x = true -> a <= INR x /\ INR x + 1 <= c) ->
  INR (number test top) <= Rmax 0 (Rmin (INR top) c - a).
Proof.
  intros AC. induction top as [|top IH]; intros H; [apply Rmax_l|].
  assert (G : INR (number test top) <= Rmax 0 (Rmin (INR top) c - a)).
  { apply IH. intros x Hx. apply H. lia. }
  cbn [number]. rewrite plus_INR, S_INR. destruct (test top) eqn:E.
  - destruct (H top (Nat.lt_succ_diag_r _) E) as [H1 H2].
    rewrite Rmin_left in G by lra. rewrite Rmin_left by lra.
    rewrite Rmax_right in G by lra. rewrite Rmax_right by lra. simpl. lra.
  - simpl (INR 0). rewrite Rplus_0_r. apply Rle_trans with (1 := G).
    apply Rle_max_compat_l.
    unfold Rmin, Rminus. destruct (Rle_dec (INR top) c), (Rle_dec (INR top + 1) c); lra.
Qed.

(** Of all strings of so many bits at most the share w_k / (sum of all weights) is decided to be
    outcome k, whatever the bounds are: so the distribution differs from the stated one by no more than the
    probability that more bits are needed. *)
Theorem no_outcome_is_too_likely
  (run : nat -> option Z) (n : nat) (v : nat -> R) before after (start bits : Z) k :
  (forall j, 0 <= v j) -> 0 <= before -> 0 <= after -> 0 < before + part v n + after ->
  (0 <= bits)%Z -> (k < n)%nat ->
  (forall x i u, run x = Some i -> begins u (Z.of_nat x) bits ->
     exists j, i = (start + Z.of_nat j)%Z /\ (j < n)%nat /\ in_part v n before after j u) ->
  INR (number (fun x => match run x with
                        | Some i => Z.eqb i (start + Z.of_nat k)
                        | None => false
                        end) (Z.to_nat (2 ^ bits)))
  <= IZR (2 ^ bits) * (v k / (before + part v n + after)).
Proof.
  intros V B A T Hb Hk H. set (t := before + part v n + after) in *.
  set (p := IZR (2 ^ bits)). assert (P : 0 < p) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  set (a := p * ((before + part v k) / t)). set (c := p * ((before + part v (S k)) / t)).
  assert (AC : a <= c).
  { unfold a, c, Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r.
    - left. apply Rinv_0_lt_compat. assumption.
    - simpl. specialize (V k). lra. }
  assert (D : c - a = p * (v k / t)) by (unfold a, c; simpl; field; lra).
  pose proof (part_monotone v 0 k V (Nat.le_0_l _)) as M0. simpl in M0.
  rewrite <- D. apply Rle_trans with (Rmax 0 (Rmin (INR (Z.to_nat (2 ^ bits))) c - a)).
  - apply number_within; [assumption|]. intros x _ E.
    destruct (run x) as [i|] eqn:R; [|discriminate]. apply Z.eqb_eq in E.
    assert (U : forall u, begins u (Z.of_nat x) bits -> in_part v n before after k u).
    { intros u Hu. destruct (H x i u R Hu) as [j [Hj [_ I]]].
      replace k with j by lia. assumption. }
    unfold begins in U. fold p in U. rewrite INR_IZR_INZ. set (y := IZR (Z.of_nat x)) in *.
    assert (quotient : forall z, z / p * p = z) by (intro; field; lra).
    assert (back : forall z, p * (z / t) * t = p * z) by (intro; field; lra).
    split.
    + destruct (U (y / p)) as [L _]; [rewrite quotient; lra|]. fold t in L.
      apply Rmult_le_reg_r with t; [assumption|]. unfold a. rewrite back.
      pose proof (Rmult_le_compat_l p _ _ (Rlt_le _ _ P) L) as Q.
      replace (p * (y / p * t)) with (y * t) in Q by (field; lra). lra.
    + destruct (Rle_lt_dec (y + 1) c) as [G|G]; [assumption|exfalso].
      (* A number that begins with the bits is at or beyond the end of the part. *)
      set (z := Rmax y c). assert (Z1 : y <= z < y + 1).
      { unfold z, Rmax. destruct (Rle_dec y c); lra. }
      assert (Z2 : c <= z) by apply Rmax_r.
      destruct (U (z / p)) as [_ L]; [rewrite quotient; lra|]. fold t in L.
      pose proof (Rmult_lt_compat_l p _ _ P L) as Q.
      replace (p * (z / p * t)) with (z * t) in Q by (field; lra).
      pose proof (Rmult_le_compat_r t _ _ (Rlt_le _ _ T) Z2) as Q2.
      unfold c in Q2. rewrite back in Q2. lra.
  - apply Rmax_lub; [lra|]. apply Rplus_le_compat_r. apply Rmin_r.
Qed.

(** ** How often more bits are needed *)

Definition sorted (l : list Z) : Prop :=
  forall i j, (i <= j < length l)%nat -> (nth i l 0 <= nth j l 0)%Z.

Lemma sorted_tail x l : sorted (x :: l) -> sorted l.
Proof. intros S i j H. apply (S (Datatypes.S i) (Datatypes.S j)). simpl. lia. Qed.

(** In a sorted list the numbers up to x come first. *)
Lemma counted l x i :
  sorted l -> (i < length l)%nat ->
  (nth i l 0 <= x)%Z <-> (i < length (filter (fun y => (y <=? x)%Z) l))%nat.
Proof.
  revert i. induction l as [|h l IH]; intros i S H; [simpl in H; lia|].
  assert (T : sorted l) by (apply sorted_tail with h; assumption). cbn [filter].
  destruct (Z.leb_spec h x) as [L|L].
  - destruct i as [|i]; simpl; [split; [lia|intros _; assumption]|].
    simpl in H. rewrite (IH i T) by lia. lia.
  - assert (Z0 : length (filter (fun y => (y <=? x)%Z) l) = O).
    { destruct l as [|h' l]; [reflexivity|].
      cut (~ (0 < length (filter (fun y => (y <=? x)%Z) (h' :: l)))%nat); [lia|]. intros M.
      apply (IH 0%nat T) in M; [|simpl; lia].
      specialize (S 0%nat 1%nat). simpl in S, M. lia. }
    rewrite Z0. split; [|lia]. intros G. specialize (S 0%nat i).
    destruct i as [|i]; simpl in S, G, H; lia.
Qed.

Lemma number_le (f g : nat -> bool) top :
  (forall x, (x < top)%nat -> f x = true -> g x = true) -> (number f top <= number g top)%nat.
Proof.
  induction top as [|top IH]; intros H; [reflexivity|]. simpl.
  assert (number f top <= number g top)%nat by (apply IH; intros; apply H; auto).
  specialize (H top (Nat.lt_succ_diag_r top)).
  destruct (f top), (g top); first [lia | specialize (H eq_refl); discriminate].
Qed.

Lemma number_none (f : nat -> bool) top : (forall x, f x = false) -> number f top = O.
Proof. intros H. induction top as [|top IH]; [reflexivity|]. simpl. rewrite IH, H. reflexivity. Qed.

(** Some of the first tests holds. *)
Fixpoint any (tests : nat -> nat -> bool) (n x : nat) : bool :=
  match n with
  | O => false
  | S n => tests n x || any tests n x
  end.

Lemma number_any tests n top k :
  (forall j, (j < n)%nat -> INR (number (tests j) top) <= k) ->
  INR (number (any tests n) top) <= INR n * k.
Proof.
  induction n as [|n IH]; intros H.
  - rewrite number_none by reflexivity. simpl. lra.
  - assert (U : (number (any tests (S n)) top
                 <= number (tests n) top + number (any tests n) top)%nat).
    { clear. induction top as [|top I]; [reflexivity|].
      change (number (any tests (S n)) (S top))
        with (number (any tests (S n)) top + if tests n top || any tests n top then 1 else 0)%nat.
      cbn [number]. destruct (tests n top), (any tests n top); cbn [orb]; lia. }
    apply le_INR in U. rewrite plus_INR in U. rewrite S_INR.
    specialize (H n (Nat.lt_succ_diag_r n)) as Hn.
    assert (INR (number (any tests n) top) <= INR n * k) by (apply IH; intros; apply H; auto).
    lra.
Qed.

(** If running sums of upper and lower bounds, from either end, differ by at most [slack], of all
    strings of so many bits at most (n + 1) (2 slack / total + 2 / 2^bits) leave the outcome
    open. So it is decided with probability 1 if the bounds get closer. *)
Theorem undecided_is_rare (w : weights) (n : nat) (bits slack : Z) :
  (0 <= bits)%Z -> (0 <= slack)%Z -> length (least w) = S n -> sorted (least w) ->
  nth 0 (least w) 0%Z = 0%Z -> (0 < last (least w) 0)%Z ->
  last (least w) 0%Z = nth n (least w) 0%Z ->
  (forall i, (i <= n)%nat ->
     (nth i (least w) 0 <= nth i (most w) 0 <= nth i (least w) 0 + slack)%Z
     /\ (last (most w) 0 - nth i (most w) 0 + beyond w
         <= last (least w) 0 - nth i (least w) 0 + slack)%Z) ->
  let total := IZR (last (least w) 0%Z) in
  INR (number (fun x => match resolve w (Z.of_nat x) bits with
                        | Some _ => false
                        | None => true
                        end) (Z.to_nat (2 ^ bits)))
  <= INR (S n) * (2 * IZR slack / total * IZR (2 ^ bits) + 2).
Proof.
  intros Hb Hs L S Z0 T En E total.
  set (l := last (least w) 0%Z) in *. set (p := (2 ^ bits)%Z).
  assert (P : (0 < p)%Z) by (apply Z.pow_pos_nonneg; lia).
  set (near := fun (j x : nat) =>
    (((nth j (least w) 0 - slack) * p - l <? Z.of_nat x * l)
     && (Z.of_nat x * l <? (nth j (least w) 0 + slack) * p))%Z).
  assert (LR : 0 < IZR l) by (apply IZR_lt; assumption).
  apply Rle_trans with (INR (number (any near (Datatypes.S n)) (Z.to_nat p))).
  - apply le_INR, number_le. intros x Hx R.
    destruct (resolve w (Z.of_nat x) bits) eqn:Q; [discriminate|]. clear R.
    unfold resolve, place in Q. fold l in Q.
    set (a := Z.shiftr (Z.of_nat x * l) bits) in Q.
    set (m := length (filter (fun sum => (sum <=? a)%Z) (least w))) in Q.
    assert (Xp : (Z.of_nat x < p)%Z) by lia.
    assert (A1 : (a * p <= Z.of_nat x * l < (a + 1) * p)%Z).
    { unfold a. rewrite Z.shiftr_div_pow2 by assumption. fold p.
      pose proof (Z.div_mod (Z.of_nat x * l) p ltac:(lia)).
      pose proof (Z.mod_pos_bound (Z.of_nat x * l) p P). lia. }
    assert (A0 : (0 <= a)%Z) by (apply Z.shiftr_nonneg; nia).
    assert (Al : (a < l)%Z) by nia.
    assert (m1 : (1 <= m)%nat).
    { apply (counted (least w) a 0 S); [lia|]. rewrite Z0. assumption. }
    assert (mn : (m <= n)%nat).
    { destruct (le_lt_dec m n) as [G|G]; [assumption|exfalso].
      apply (counted (least w) a n S) in G; [|lia]. rewrite <- En in G. lia. }
    replace (Nat.pred (Nat.min m (Nat.pred (length (least w))))) with (m - 1)%nat in Q
      by (rewrite L; simpl; lia).
    replace (Datatypes.S (m - 1)) with m in Q by lia.
    assert (B1 : (nth (m - 1) (least w) 0 <= a)%Z) by (apply (counted (least w) a (m - 1) S); lia).
    destruct (E (m - 1)%nat ltac:(lia)) as [E1 _]. destruct (E m mn) as [_ E2].
    assert (hit : forall j, (j <= n)%nat -> near j x = true -> any near (Datatypes.S n) x = true).
    { clear. intros j Hj N. induction n as [|n IH].
      - replace j with O in N by lia. simpl. rewrite N. reflexivity.
      - cbn [any] in *. destruct (Nat.eq_dec j (Datatypes.S n)) as [->|D].
        + rewrite N. reflexivity.
        + rewrite IH by lia. apply orb_true_r. }
    destruct (_ && _) eqn:C in Q; [discriminate|]. clear Q.
    rewrite !Z.shiftl_mul_pow2 in C by assumption. fold p in C.
    apply andb_false_iff in C. destruct C as [C|C]; apply Z.leb_gt in C.
    + apply (hit (m - 1)%nat); [lia|]. unfold near. apply andb_true_iff.
      split; apply Z.ltb_lt; nia.
    + assert (B2 : (a < nth m (least w) 0)%Z).
      { destruct (Z_lt_ge_dec a (nth m (least w) 0%Z)) as [G|G]; [assumption|exfalso].
        assert (m < m)%nat; [|lia]. apply (counted (least w) a m S); lia. }
      apply (hit m mn). unfold near. apply andb_true_iff. split; apply Z.ltb_lt; nia.
  - apply number_any. intros j _.
    set (c := IZR (nth j (least w) 0%Z)). set (g := IZR slack). set (q := IZR p).
    assert (Q0 : 0 < q) by (apply IZR_lt; assumption).
    assert (G0 : 0 <= g) by (apply (IZR_le 0); assumption).
    set (lower := ((c - g) * q - total) / total). set (upper := (c + g) * q / total + 1).
    assert (D : upper - lower = 2 * g / total * q + 2).
    { unfold upper, lower. field. unfold total. fold l. lra. }
    assert (D0 : 0 <= 2 * g / total * q).
    { unfold Rdiv. apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [lra|].
      left. apply Rinv_0_lt_compat. assumption. }
    rewrite <- D. apply Rle_trans with (Rmax 0 (Rmin (INR (Z.to_nat p)) upper - lower)).
    + apply number_within; [lra|]. intros x _ H. unfold near in H.
      apply andb_true_iff in H. destruct H as [H1 H2].
      apply Z.ltb_lt, IZR_lt in H1. apply Z.ltb_lt, IZR_lt in H2.
      rewrite minus_IZR, !mult_IZR, minus_IZR in H1. rewrite !mult_IZR, plus_IZR in H2.
      rewrite <- INR_IZR_INZ in H1, H2. fold c g q total in H1, H2.
      unfold lower, upper. split.
      * apply Rmult_le_reg_r with total; [assumption|]. unfold Rdiv.
        rewrite Rmult_assoc, Rinv_l by (unfold total; fold l; lra). lra.
      * apply Rplus_le_compat_r. apply Rmult_le_reg_r with total; [assumption|]. unfold Rdiv.
        rewrite Rmult_assoc, Rinv_l by (unfold total; fold l; lra). lra.
    + apply Rmax_lub; [lra|]. apply Rplus_le_compat_r. apply Rmin_r.
Qed.

(** What is not decided after all rounds is not decided by all their bits at once. *)
Lemma resume_undecided rounds w more uniform bits :
  resume rounds w more uniform bits = None ->
  let '(all, many) := read rounds more uniform bits in resolve (w many) all many = None.
Proof.
  revert uniform bits. induction rounds as [|rounds IH]; intros uniform bits H; simpl in *;
    destruct (resolve (w bits) uniform bits) eqn:R; try discriminate; [assumption|].
  apply IH. assumption.
Qed.

Print Assumptions resume_is_right.
Print Assumptions no_outcome_is_too_likely.
Print Assumptions undecided_is_rare.
