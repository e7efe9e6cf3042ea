(** Permute-and-flip as it is drawn: the largest score with exponential noise, whose bits are
    read as far as they decide. *)

Require Import Reals ZArith QArith Qreals List Lra Lia Bool Psatz Sorting.Sorted.
From Coquelicot Require Import Coquelicot.
Require Import UnitScores PermuteAndFlip Inversion LazyNoise Strings LazyDistribution Logarithm.
Import ListNotations.
Open Scope R_scope.

(** Bounds of a number plus the scale times -ln u, for all u that begin with the bits w. *)
Definition exponential_bound (number : nat -> Z) (scale : Q) (i : nat) (b w : Z) :
    option Q * option Q :=
  let p := (b + 8)%Z in
  let noisy := fun e => (inject_Z (number i) + scale * (e # Z.to_pos (2 ^ p)))%Q in
  (Some (noisy (if (w + 1 <? 2 ^ b)%Z then fst (minus_log (w + 1) b p) else 0%Z)),
   if (0 <? w)%Z then Some (noisy (snd (minus_log w b p))) else None).

(** ** The distribution *)

Section Distribution.
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

  (** What is drawn are the k largest noisy scores, whatever the unread bits are. *)
  Theorem exponential_noise_draws_largest :
    draws_largest (exponential_bound number scale) initial depth n k noisy_score.
  Proof. exact (drawn_are_largest _ _ _ n k initial_pos _ exponential_bound_holds). Qed.

  (** At most the share of permute-and-flip of all strings of bits draws r first. *)
  Theorem drawn_as_often_as_permute_and_flip r largest :
    (r < n)%nat -> is_top (others n r) r score largest ->
    tuples (top initial depth) n
      (first_drawn (exponential_bound number scale) initial depth n k r)
    <= N initial depth ^ n * permute_and_flip (others n r) r (2 / Q2R scale) score largest.
  Proof.
    intros R Top. rewrite <- (integral_is_permute_and_flip n r largest Top).
    replace (RInt (all_below n r) 0 1) with
      (chance (fun r z => RInt (all_below n r) 0 z) r)
      by (unfold chance; rewrite RInt_point; unfold zero; simpl; ring).
    apply no_candidate_is_too_likely with (f := noisy_score) (T := gate); auto.
    - apply exponential_bound_holds.
    - apply gate_range.
    - intros. apply gate_below; assumption.
    - intros. apply all_below_integral; assumption.
  Qed.
End Distribution.

Print Assumptions exponential_noise_draws_largest.
Print Assumptions drawn_as_often_as_permute_and_flip.
