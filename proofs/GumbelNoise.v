(** The exponential mechanism as it is drawn: the k largest scores with Gumbel noise, whose bits
    are read as far as they decide. *)

Require Import Reals ZArith QArith Qreals List Lra Lia Bool Psatz Sorting.Sorted Permutation.
From Coquelicot Require Import Coquelicot.
Require Import UnitScores Inversion LazyNoise Strings LazyDistribution Logarithm.
Import ListNotations.
Open Scope R_scope.

(** Bounds of a number plus the scale times -ln(-ln(1 - u)), for all u that begin with the bits w;
    none where a logarithm may be infinite. *)
Definition gumbel_bound (number : nat -> Z) (scale : Q) (i : nat) (b w : Z) :
    option Q * option Q :=
  let p := (b + 8)%Z in
  let full := (2 ^ b)%Z in
  let noisy := fun e => (inject_Z (number i) + scale * (e # Z.to_pos (2 ^ p)))%Q in
  let most := snd (minus_log (full - w - 1) b p) in
  let least := fst (minus_log (full - w) b p) in
  (if ((w + 1 <? full) && (0 <? most))%Z
   then Some (noisy (fst (minus_log most p p))) else None,
   if ((0 <? w) && (0 <? least))%Z then Some (noisy (snd (minus_log least p p))) else None).

(** ** Rounds of the exponential mechanism *)

Section Rounds.
  Context (epsilon : R) (score : nat -> R).

  (** The chance that rounds without replacement draw a list in its order; the rest are the
      candidates that are left in the end. *)
  Fixpoint rounds (l rest : list nat) : R :=
    match l with
    | [] => 1
    | r :: l => exponential (r :: l ++ rest) epsilon score r * rounds l rest
    end.

  Lemma rounds_pos l rest : 0 < rounds l rest.
  Proof.
    induction l as [|r l IH]; cbn [rounds]; [lra|]. apply Rmult_lt_0_compat; [|assumption].
    apply exponential_is_a_distribution with (r0 := r). left. reflexivity.
  Qed.

  Fixpoint sequences (k : nat) (left : list nat) : list (list nat) :=
    match k with
    | O => [[]]
    | S k => flat_map (fun r => map (cons r) (sequences k (remove Nat.eq_dec r left))) left
    end.

  (** Candidates without those of a list. *)
  Fixpoint without (l left : list nat) : list nat :=
    match l with
    | [] => left
    | r :: l => without l (remove Nat.eq_dec r left)
    end.

  Lemma total_app {C : Type} (f : C -> R) a b : total f (a ++ b) = total f a + total f b.
  Proof. induction a as [|c a IH]; cbn [app total]; [|rewrite IH]; ring. Qed.

  Lemma total_ext {C : Type} (f g : C -> R) l :
    (forall c, In c l -> f c = g c) -> total f l = total g l.
  Proof.
    induction l as [|c l IH]; intros H; [reflexivity|]. cbn [total].
    rewrite (H c (or_introl eq_refl)), IH; [reflexivity|]. intros. apply H. right. assumption.
  Qed.

  Lemma total_map {A C : Type} (f : C -> R) (g : A -> C) l :
    total f (map g l) = total (fun x => f (g x)) l.
  Proof. induction l as [|c l IH]; cbn [map total]; [|rewrite IH]; reflexivity. Qed.

  Lemma total_flat_map {A C : Type} (f : C -> R) (g : A -> list C) l :
    total f (flat_map g l) = total (fun x => total f (g x)) l.
  Proof. induction l as [|c l IH]; cbn [flat_map total]; [|rewrite total_app, IH]; reflexivity. Qed.

  Lemma total_permuted {C : Type} (f : C -> R) l l' : Permutation l l' -> total f l = total f l'.
  Proof. intros P. induction P; cbn [total]; lra. Qed.

  Lemma removed r left :
    NoDup left -> In r left ->
    Permutation (r :: remove Nat.eq_dec r left) left /\ NoDup (remove Nat.eq_dec r left).
  Proof.
    intros D I.
    assert (R : NoDup (remove Nat.eq_dec r left)).
    { clear I. induction left as [|j l IH]; [constructor|]. inversion D as [|? ? Nj D']. subst.
      cbn [remove]. destruct (Nat.eq_dec r j); [apply IH; assumption|].
      constructor; [|apply IH; assumption]. intros J. apply in_remove in J. tauto. }
    split; [|assumption]. apply NoDup_Permutation; [|assumption|].
    - constructor; [apply remove_In|assumption].
    - intros j. split.
      + intros [->|J]; [assumption|]. apply in_remove in J. tauto.
      + intros J. destruct (Nat.eq_dec j r) as [->|N]; [left; reflexivity|].
        right. apply in_in_remove; assumption.
  Qed.

  Lemma sequence_and_rest k left l :
    NoDup left -> In l (sequences k left) -> Permutation (l ++ without l left) left.
  Proof.
    revert left l. induction k as [|k IH]; intros left l D L; cbn [sequences] in L.
    - destruct L as [<-|[]]. reflexivity.
    - apply in_flat_map in L. destruct L as [r [R L]]. apply in_map_iff in L.
      destruct L as [m [<- L]]. cbn [app without].
      destruct (removed r left D R) as [P D']. rewrite <- P at 2.
      constructor. apply IH; assumption.
  Qed.

  (** The chances of all sequences of k candidates add up to 1. *)
  Theorem rounds_are_a_distribution k left :
    NoDup left -> (k <= length left)%nat ->
    total (fun l => rounds l (without l left)) (sequences k left) = 1.
  Proof.
    revert left. induction k as [|k IH]; intros left D K; cbn [sequences].
    - cbn [total rounds]. ring.
    - rewrite total_flat_map.
      rewrite (total_ext _ (exponential left epsilon score)).
      + destruct left as [|r left]; [simpl in K; lia|].
        apply exponential_is_a_distribution with (r0 := r). left. reflexivity.
      + intros r R. destruct (removed r left D R) as [P D']. rewrite total_map.
        assert (size : S (length (remove Nat.eq_dec r left)) = length left)
          by (apply (Permutation_length P)).
        rewrite (total_ext _ (fun l => exponential left epsilon score r
                                       * rounds l (without l (remove Nat.eq_dec r left)))).
        * rewrite total_scale, IH by (try assumption; lia). ring.
        * intros l L. cbn [rounds without]. f_equal. unfold exponential. f_equal.
          apply total_permuted. rewrite <- P at 2. constructor.
          apply sequence_and_rest with (k := k); assumption.
  Qed.
End Rounds.

(** ** The distribution *)

(** The integral of v^q up to e. *)
Definition power (q e : R) : R := if Rle_dec e 0 then 0 else exp ((q + 1) * ln e) / (q + 1).

Lemma power_nonneg q e : 0 <= q -> 0 <= power q e.
Proof.
  intros Q. unfold power. destruct (Rle_dec e 0); [lra|].
  left. apply Rdiv_lt_0_compat; [apply exp_pos|lra].
Qed.

Lemma power_gain q K e e' :
  0 <= q -> 0 <= e' < e -> (forall v, e' < v < e -> K <= exp (q * ln v)) ->
  K * (e - e') <= power q e - power q e'.
Proof.
  intros Q.
  assert (G : forall e', 0 < e' < e -> (forall v, e' < v < e -> K <= exp (q * ln v)) ->
              K * (e - e') <= power q e - power q e').
  { clear e'. intros e' E H. unfold power.
    destruct (Rle_dec e 0) as [|_]; [lra|]. destruct (Rle_dec e' 0) as [|_]; [lra|].
    set (f := fun v => exp ((q + 1) * ln v) / (q + 1)).
    assert (D : forall v, 0 < v -> is_derive f v (exp (q * ln v))).
    { intros v V. unfold f. auto_derive; [assumption|].
      replace (exp ((q + 1) * ln v)) with (exp (q * ln v) * v); [field; lra|].
      rewrite <- (exp_ln v) at 2 by assumption. rewrite <- exp_plus. f_equal. ring. }
    assert (M : exists c, e' < c < e /\ f e - f e' = exp (q * ln c) * (e - e')).
    { destruct (MVT_cor2 f (fun v => exp (q * ln v)) e' e) as [c [C1 C2]]; [lra| |].
      - intros c C. apply is_derive_Reals. apply D. lra.
      - exists c. split; assumption. }
    destruct M as [c [C E2]]. unfold f in E2. rewrite E2.
    apply Rmult_le_compat_r; [lra|]. apply H. assumption. }
  intros E H. destruct (Req_dec e' 0) as [->|N]; [|apply G; [lra|assumption]].
  replace (power q 0) with 0 by (unfold power; destruct (Rle_dec 0 0); lra).
  rewrite !Rminus_0_r.
  destruct (Rle_lt_dec (K * e) (power q e)) as [L|L]; [assumption|exfalso].
  pose proof (power_nonneg q e Q) as P.
  assert (K0 : 0 < K) by nra.
  set (slack := K * e - power q e).
  set (v := Rmin (e / 2) (slack / (2 * K))).
  assert (S0 : 0 < slack) by (unfold slack; lra).
  assert (V0 : 0 < v).
  { apply Rmin_glb_lt; [lra|]. apply Rdiv_lt_0_compat; lra. }
  assert (V1 : v <= e / 2) by apply Rmin_l.
  assert (V2 : K * v <= slack / 2).
  { apply Rle_trans with (K * (slack / (2 * K))); [apply Rmult_le_compat_l; [lra|apply Rmin_r]|].
    right. field. lra. }
  assert (A : K * (e - v) <= power q e - power q v) by (apply G; [lra|]; intros; apply H; lra).
  pose proof (power_nonneg q v Q). unfold slack in V2. lra.
Qed.

Lemma power_grows q e e' : 0 <= q -> 0 <= e' <= e -> power q e' <= power q e.
Proof.
  intros Q [E0 E]. destruct (Req_dec e' e) as [->|D]; [lra|].
  pose proof (power_gain q 0 e e' Q ltac:(lra)) as G.
  assert (0 * (e - e') <= power q e - power q e'); [|lra].
  apply G. intros. left. apply exp_pos.
Qed.

Section Distribution.
  Context (number : nat -> Z) (scale : Q).
  Hypothesis scale_pos : 0 < Q2R scale.

  Definition noisy_score (i : nat) (u : R) : R :=
    IZR (number i) + Q2R scale * - ln (- ln (1 - u)).

  Lemma minus_log_pos u : 0 < u < 1 -> 0 < - ln (1 - u).
  Proof. intros U. assert (ln (1 - u) < 0); [|lra]. rewrite <- ln_1. apply ln_increasing; lra. Qed.

  Lemma gumbel_bound_holds i b w u :
    (0 < b)%Z -> 0 < u < 1 -> begins u w b ->
    (forall l, fst (gumbel_bound number scale i b w) = Some l -> Q2R l <= noisy_score i u)
    /\ (forall h, snd (gumbel_bound number scale i b w) = Some h -> noisy_score i u <= Q2R h).
  Proof.
    intros B U [W0 W1]. pose proof (minus_log_pos u U) as E0.
    unfold gumbel_bound. set (p := (b + 8)%Z). set (full := (2 ^ b)%Z).
    assert (P : (0 <= p)%Z) by lia.
    assert (Pp : (0 < 2 ^ p)%Z) by (apply Z.pow_pos_nonneg; lia).
    assert (P' : 0 < IZR (2 ^ p)) by (apply IZR_lt; assumption).
    assert (Bb : 0 < IZR full) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
    fold full in W0, W1.
    assert (value : forall e, Q2R (inject_Z (number i) + scale * (e # Z.to_pos (2 ^ p)))
                              = IZR (number i) + Q2R scale * (IZR e / IZR (2 ^ p))).
    { intros e. rewrite Q2R_plus, Q2R_mult. f_equal; [unfold Q2R; simpl; field|].
      f_equal. unfold Q2R. cbn [Qnum Qden]. rewrite Z2Pos.id by assumption. reflexivity. }
    (* Bounds of the inner logarithm. *)
    assert (inner : forall v, (0 < v)%Z ->
              IZR (fst (minus_log v b p)) <= IZR (2 ^ p) * - ln (IZR v / IZR full)
              <= IZR (snd (minus_log v b p))) by (intros; apply minus_log_bounds; lia).
    assert (outer : forall e, (0 < e)%Z ->
              IZR (fst (minus_log e p p)) / IZR (2 ^ p) <= - ln (IZR e / IZR (2 ^ p))
              <= IZR (snd (minus_log e p p)) / IZR (2 ^ p)).
    { intros e E. destruct (minus_log_bounds e p p E P P) as [L H].
      split; apply Rmult_le_reg_r with (IZR (2 ^ p)); try assumption; unfold Rdiv;
        rewrite Rmult_assoc, Rinv_l by lra; lra. }
    unfold noisy_score. split.
    - intros l. cbn [fst]. destruct (andb _ _) eqn:A; [|discriminate]. apply andb_true_iff in A.
      destruct A as [A1 A2]. apply Z.ltb_lt in A1, A2. intros E. injection E as <-.
      set (most := snd (minus_log (full - w - 1) b p)) in *.
      rewrite value. apply Rplus_le_compat_l, Rmult_le_compat_l; [lra|].
      apply Rle_trans with (1 := proj1 (outer most A2)). apply Ropp_le_contravar.
      apply ln_le; [assumption|].
      destruct (inner (full - w - 1)%Z ltac:(lia)) as [_ H]. fold most in H.
      apply Rmult_le_reg_l with (IZR (2 ^ p)); [assumption|].
      replace (IZR (2 ^ p) * (IZR most / IZR (2 ^ p))) with (IZR most) by (field; lra).
      apply Rle_trans with (2 := H). apply Rmult_le_compat_l; [lra|]. apply Ropp_le_contravar.
      apply ln_le.
      + apply Rdiv_lt_0_compat; [apply IZR_lt; lia|assumption].
      + apply Rmult_le_reg_r with (IZR full); [assumption|]. unfold Rdiv.
        rewrite Rmult_assoc, Rinv_l, !minus_IZR by lra. lra.
    - intros h. cbn [snd]. destruct (andb _ _) eqn:A; [|discriminate]. apply andb_true_iff in A.
      destruct A as [A1 A2]. apply Z.ltb_lt in A1, A2. intros E. injection E as <-.
      set (least := fst (minus_log (full - w) b p)) in *.
      rewrite value. apply Rplus_le_compat_l, Rmult_le_compat_l; [lra|].
      apply Rle_trans with (2 := proj2 (outer least A2)). apply Ropp_le_contravar.
      assert (L0 : 0 < IZR least) by (apply IZR_lt; assumption).
      apply ln_le; [apply Rdiv_lt_0_compat; assumption|].
      assert (wb : (w < full)%Z) by (apply lt_IZR; nra).
      destruct (inner (full - w)%Z ltac:(lia)) as [H _]. fold least in H.
      apply Rmult_le_reg_l with (IZR (2 ^ p)); [assumption|].
      replace (IZR (2 ^ p) * (IZR least / IZR (2 ^ p))) with (IZR least) by (field; lra).
      apply Rle_trans with (1 := H). apply Rmult_le_compat_l; [lra|]. apply Ropp_le_contravar.
      apply ln_le; [lra|].
      apply Rmult_le_reg_r with (IZR full); [assumption|]. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l, minus_IZR by lra. lra.
  Qed.

  (** Scores and weights of the exponential mechanism. *)
  Definition score (i : nat) : R := IZR (number i).
  Definition epsilon : R := 2 / Q2R scale.
  Definition w (i : nat) : R := weight epsilon score i.

  Lemma w_pos i : 0 < w i.
  Proof. apply exp_pos. Qed.

  (** The least number with which j is below r. *)
  Definition gate (r j : nat) (z : R) : R := 1 - exp (w j / w r * ln (1 - z)).

  Lemma gate_below r j z u :
    0 < z < 1 -> 0 < u < 1 -> noisy_score j u <= noisy_score r z -> gate r j z <= u.
  Proof.
    intros Z U H. unfold gate, noisy_score in *.
    pose proof (minus_log_pos z Z) as Ez. pose proof (minus_log_pos u U) as Eu.
    set (d := (IZR (number j) - IZR (number r)) / Q2R scale).
    assert (ratio : w j / w r = exp d).
    { unfold w, weight, Rdiv. rewrite <- exp_Ropp, <- exp_plus. f_equal.
      unfold epsilon, score, d. field. lra. }
    rewrite ratio.
    assert (L : d + ln (- ln (1 - z)) <= ln (- ln (1 - u))).
    { apply Rmult_le_reg_l with (Q2R scale); [assumption|]. unfold d.
      replace (Q2R scale * ((IZR (number j) - IZR (number r)) / Q2R scale + ln (- ln (1 - z))))
        with (Q2R scale * ln (- ln (1 - z)) + (IZR (number j) - IZR (number r))) by (field; lra).
      lra. }
    apply exp_le in L. rewrite exp_plus, !exp_ln in L by assumption.
    assert (1 - u <= exp (exp d * ln (1 - z))); [|lra].
    rewrite <- (exp_ln (1 - u)) at 1 by lra. apply exp_le. lra.
  Qed.

  Context (initial : Z) (depth n k : nat).
  Hypothesis initial_pos : (0 < initial)%Z.

  (** What is drawn are the k largest noisy scores, whatever the unread bits are. *)
  Theorem gumbel_noise_draws_largest :
    draws_largest (gumbel_bound number scale) initial depth n k noisy_score.
  Proof. exact (drawn_are_largest _ _ _ n k initial_pos _ gumbel_bound_holds). Qed.

  Let T : nat := top initial depth.
  Let M : R := N initial depth.

  Lemma T_is_M : INR T = M.
  Proof. apply top_is_N. Qed.

  Lemma M_pos : 0 < M.
  Proof. apply N_pos. assumption. Qed.

  (** Each candidate of a list is before those behind it and the rest. *)
  Fixpoint in_order (l rest : list nat) (a : nat -> nat) : Prop :=
    match l with
    | [] => True
    | r :: l =>
        (forall j z, In j (l ++ rest) -> inside initial depth (a r) z ->
                     M * gate r j z <= INR (a j))
        /\ in_order l rest a
    end.

  Lemma total_w l : 0 <= total w l.
  Proof. apply total_nonneg. intros c _. left. apply w_pos. Qed.

  Lemma all_beyond l t :
    prod (fun j => INR T - M * (1 - exp (- (w j * t)))) l
    = M ^ length l * exp (- (total w l * t)).
  Proof.
    rewrite T_is_M. induction l as [|j l IH]; cbn [prod total length pow].
    - replace (- (0 * t)) with 0 by ring. rewrite exp_0. ring.
    - rewrite IH.
      replace (- ((w j + total w l) * t)) with (- (w j * t) + - (total w l * t)) by ring.
      rewrite exp_plus. ring.
  Qed.

  Lemma reached t j : 0 <= t -> 0 <= 1 - exp (- (w j * t)) <= 1.
  Proof.
    intros H. pose proof (exp_pos (- (w j * t))). pose proof (w_pos j).
    assert (exp (- (w j * t)) <= 1); [|lra]. rewrite <- exp_0. apply exp_le. nra.
  Qed.

  Lemma in_order_as_often_as_rounds l rest test a t :
    NoDup (l ++ rest) -> 0 <= t ->
    (forall a', chosen T (l ++ rest) a a' -> test a' = true ->
       in_order l rest a'
       /\ forall j, In j (l ++ rest) -> M * (1 - exp (- (w j * t))) <= INR (a' j)) ->
    count T (l ++ rest) test a
    <= M ^ length (l ++ rest) * rounds epsilon score l rest * exp (- (total w (l ++ rest) * t)).
  Proof.
    pose proof M_pos as M0. pose proof T_is_M as TM.
    revert a t. induction l as [|r l IH]; intros a t D T0 H.
    - cbn [app rounds] in *. rewrite Rmult_1_r, <- all_beyond.
      apply count_beyond; [assumption| |].
      + intros j _. rewrite TM. pose proof (reached t j T0). nra.
      + intros a' C E. apply (H a' C E).
    - cbn [app rounds count] in *. inversion D as [|? ? Nr D']. subst.
      set (others := l ++ rest) in *.
      set (C := M ^ length others * rounds epsilon score l rest).
      assert (C0 : 0 < C) by (apply Rmult_lt_0_compat; [apply pow_lt; assumption|apply rounds_pos]).
      set (q := total w others / w r).
      pose proof (w_pos r) as W0. pose proof (total_w others) as W1.
      assert (Q : 0 <= q).
      { unfold q. apply Rmult_le_pos; [assumption|]. left. apply Rinv_0_lt_compat. assumption. }
      set (c := fun x => count T others test (put a r x)).
      set (e := exp (- (w r * t))).
      assert (E0 : 0 < e <= 1).
      { unfold e. pose proof (reached t r T0). pose proof (exp_pos (- (w r * t))). lra. }
      (* One number of r, beyond t. *)
      assert (one : forall x, (x < T)%nat -> M * (1 - e) <= INR x ->
                c x * / M <= C * (power q (1 - INR x / M) - power q (1 - INR (S x) / M))).
      { intros x X L.
        assert (S1 : INR (S x) <= M) by (rewrite <- TM; apply le_INR; lia).
        assert (S2 : INR (S x) / M <= 1).
        { apply Rmult_le_reg_r with M; [assumption|]. unfold Rdiv.
          rewrite Rmult_assoc, Rinv_l by lra. lra. }
        assert (S3 : INR (S x) / M = INR x / M + / M) by (rewrite S_INR; field; lra).
        assert (I : 0 < / M) by (apply Rinv_0_lt_compat; assumption).
        assert (x0 : 0 <= INR x / M) by (apply Rmult_le_pos; [apply pos_INR|lra]).
        assert (G : c x / C * (1 - INR x / M - (1 - INR (S x) / M))
                    <= power q (1 - INR x / M) - power q (1 - INR (S x) / M)).
        { apply power_gain; [assumption|lra|]. intros v V.
          (* The rest at the time of this number. *)
          set (z := 1 - v). assert (Z : 0 < z < 1) by (unfold z; lra).
          set (s := - ln v / w r).
          assert (lv : ln v < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
          assert (s0 : 0 <= s).
          { unfold s. apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. assumption. }
          assert (A : c x <= C * exp (- (total w others * s))).
          { apply IH; [assumption|assumption|]. intros a' Ca Ea.
            destruct (chosen_put T others r x a a' Nr X Ca) as [Ca' Ex].
            destruct (H a' Ca' Ea) as [[O1 O2] _]. split; [assumption|].
            intros j J. specialize (O1 j z J). unfold gate in O1.
            replace (- (w j * s)) with (w j / w r * ln (1 - z)).
            - apply O1. rewrite Ex. unfold inside. fold M. unfold z.
              destruct V as [V1 V2].
              apply (Rmult_lt_compat_r M) in V1, V2; try assumption.
              replace ((1 - INR (S x) / M) * M) with (M - INR (S x)) in V1 by (field; lra).
              replace ((1 - INR x / M) * M) with (M - INR x) in V2 by (field; lra).
              rewrite S_INR in V1. lra.
            - unfold s, z. replace (1 - (1 - v)) with v by ring. field. lra. }
          replace (q * ln v) with (- (total w others * s)) by (unfold q, s; field; lra).
          apply Rmult_le_reg_l with C; [assumption|].
          replace (C * (c x / C)) with (c x) by (field; lra). assumption. }
        replace (1 - INR x / M - (1 - INR (S x) / M)) with (/ M) in G by lra.
        apply (Rmult_le_compat_l C) in G; [|lra].
        replace (C * (c x / C * / M)) with (c x * / M) in G by (field; lra). assumption. }
      (* None before t. *)
      assert (none : forall x, (x < T)%nat -> INR x < M * (1 - e) -> c x <= 0).
      { intros x X L. apply count_none; [assumption|]. intros a' Ca Ea.
        destruct (chosen_put T others r x a a' Nr X Ca) as [Ca' Ex].
        destruct (H a' Ca' Ea) as [_ B]. specialize (B r (or_introl eq_refl)).
        rewrite Ex in B. fold e in B. lra. }
      assert (sum : forall m, (m <= T)%nat ->
                sum_to c m <= C * M * (power q e - power q (Rmin e (1 - INR m / M)))).
      { induction m as [|m IHm]; intros Hm.
        - cbn [sum_to]. change (INR 0) with 0. rewrite Rmin_left by (unfold Rdiv; lra).
          replace (power q e - power q e) with 0 by ring. rewrite Rmult_0_r. apply Rle_refl.
        - cbn [sum_to]. specialize (IHm ltac:(lia)).
          assert (CM : 0 < C * M) by nra.
          assert (S1 : INR (S m) <= M) by (rewrite <- TM; apply le_INR; lia).
          assert (I : 0 < / M) by (apply Rinv_0_lt_compat; assumption).
          assert (S2 : INR (S m) / M <= 1).
          { apply Rmult_le_reg_r with M; [assumption|]. unfold Rdiv.
            rewrite Rmult_assoc, Rinv_l by lra. lra. }
          assert (S3 : INR (S m) / M = INR m / M + / M) by (rewrite S_INR; field; lra).
          assert (Mx : INR m / M * M = INR m) by (field; lra).
          destruct (Rle_lt_dec (M * (1 - e)) (INR m)) as [L|L].
          + pose proof (one m ltac:(lia) L) as O.
            apply (Rmult_le_compat_r M) in O; [|lra].
            replace (c m * / M * M) with (c m) in O by (field; lra).
            assert (1 - INR m / M <= e).
            { apply Rmult_le_reg_r with M; [assumption|]. rewrite Rmult_minus_distr_r, Mx. lra. }
            rewrite Rmin_right in IHm by assumption. rewrite Rmin_right by lra. nra.
          + pose proof (none m ltac:(lia) L) as O.
            assert (power q (Rmin e (1 - INR (S m) / M)) <= power q (Rmin e (1 - INR m / M))).
            { apply power_grows; [assumption|]. split; [apply Rmin_glb; lra|].
              apply Rmin_glb; [apply Rmin_l|].
              apply Rle_trans with (1 - INR (S m) / M); [apply Rmin_r|lra]. }
            nra. }
      apply Rle_trans with (1 := sum T (le_n _)).
      rewrite TM. replace (1 - M / M) with 0 by (field; lra). rewrite Rmin_right by lra.
      replace (power q 0) with 0 by (unfold power; destruct (Rle_dec 0 0); lra).
      rewrite Rminus_0_r. unfold power. destruct (Rle_dec e 0) as [|_]; [lra|].
      unfold e at 1. rewrite ln_exp. right.
      unfold exponential. change (weight epsilon score) with w. cbn [total length pow].
      fold others.
      replace ((q + 1) * - (w r * t)) with (- ((w r + total w others) * t))
        by (unfold q; field; lra).
      replace (q + 1) with ((w r + total w others) / w r) by (unfold q; field; lra).
      unfold C. field. lra.
  Qed.
  (** Who stands where in what is drawn. *)
  Lemma sorted_above (v : nat -> R) l1 r l2 j :
    StronglySorted (larger v) (l1 ++ r :: l2) -> In j l2 -> v j < v r.
  Proof.
    induction l1 as [|i l1 IH]; cbn [app]; intros S J; inversion S as [|? ? S' F]; subst.
    - rewrite Forall_forall in F. apply F. assumption.
    - apply IH; assumption.
  Qed.

  Lemma in_order_of l rest a :
    (forall l1 r l2 j z, l = l1 ++ r :: l2 -> In j (l2 ++ rest) -> inside initial depth (a r) z ->
       M * gate r j z <= INR (a j)) ->
    in_order l rest a.
  Proof.
    induction l as [|r l IH]; intros H; cbn [in_order]; [trivial|]. split.
    - intros j z. apply (H [] r l j z eq_refl).
    - apply IH. intros l1 r' l2 j z ->. apply (H (r :: l1) r' l2 j z eq_refl).
  Qed.

  Definition draws (l : list nat) (all : list nat) : bool :=
    match drawn (gumbel_bound number scale) initial depth n k (map Z.of_nat all) with
    | Some l' => if list_eq_dec Nat.eq_dec l' l then true else false
    | None => false
    end.

  (** Of all strings of bits at most the share of rounds of the exponential mechanism draws a list
      in its order. *)
  Theorem drawn_as_often_as_rounds l rest :
    Permutation (l ++ rest) (seq 0 n) ->
    tuples T n (draws l) <= M ^ n * rounds epsilon score l rest.
  Proof.
    intros P. rewrite (tuples_counted T n (draws l) (fun _ => O)).
    rewrite <- (count_permuted T _ _ _ _ P).
    assert (D : NoDup (l ++ rest)).
    { apply (Permutation_NoDup (Permutation_sym P)). apply seq_NoDup. }
    assert (member : forall j, In j (l ++ rest) -> (j < n)%nat).
    { intros j J. apply (Permutation_in j P) in J. apply in_seq in J. lia. }
    assert (size : length (l ++ rest) = n).
    { rewrite (Permutation_length P). apply seq_length. }
    apply Rle_trans with
      (M ^ length (l ++ rest) * rounds epsilon score l rest * exp (- (total w (l ++ rest) * 0))).
    - apply in_order_as_often_as_rounds; [assumption|lra|]. intros a C E.
      pose proof M_pos as M0.
      assert (at_ : forall j, (j < n)%nat -> nth j (map a (seq 0 n)) O = a j).
      { intros j J. rewrite (nth_indep _ O (a O)) by (rewrite map_length, seq_length; assumption).
        rewrite map_nth, seq_nth by assumption. reflexivity. }
      assert (W : within (top initial depth) n (map a (seq 0 n))).
      { split; [rewrite map_length, seq_length; reflexivity|]. intros i.
        destruct (Nat.lt_ge_cases i n) as [I|I].
        - rewrite at_ by assumption. apply C.
          apply (Permutation_in i (Permutation_sym P)). apply in_seq. lia.
        - rewrite nth_overflow by (rewrite map_length, seq_length; assumption).
          apply top_pos. assumption. }
      split.
      + apply in_order_of. intros l1 r l2 j z El J Z.
        assert (R : (r < n)%nat).
        { apply member. rewrite El. apply in_or_app. left. apply in_or_app. right. left.
          reflexivity. }
        assert (J' : (j < n)%nat).
        { apply member. rewrite El, <- app_assoc. apply in_or_app. right. right. assumption. }
        assert (J2 : j <> r).
        { intros ->. rewrite El, <- app_assoc in D. apply NoDup_remove_2 in D. apply D.
          apply in_or_app. right. assumption. }
        rewrite <- at_ by assumption.
        apply (decided_beyond initial depth n initial_pos noisy_score gate
                 (fun r j z u _ _ => gate_below r j z u) (map a (seq 0 n)) r j z W R J' J2).
        * intros u U. unfold draws in E.
          destruct (drawn _ _ _ _ _ _) as [l'|] eqn:D'; [|discriminate].
          destruct (list_eq_dec Nat.eq_dec l' l) as [->|]; [|discriminate].
          destruct (gumbel_noise_draws_largest (map a (seq 0 n)) u l W U D') as [_ [_ [S [_ O]]]].
          apply in_app_or in J. destruct J as [J|J].
          -- rewrite El in S. apply (sorted_above _ l1 r l2 j S J).
          -- apply O; [|assumption|].
             ++ rewrite El. apply in_or_app. right. left. reflexivity.
             ++ intros J3. apply in_split in J3. destruct J3 as [m1 [m2 J3]].
                apply in_split in J. destruct J as [m3 [m4 J]].
                rewrite J3, J, <- app_assoc in D. apply NoDup_remove_2 in D. apply D.
                do 3 (apply in_or_app; right). left. reflexivity.
        * rewrite at_ by assumption. assumption.
      + intros j J. rewrite Rmult_0_r, Ropp_0, exp_0, Rminus_diag_eq, Rmult_0_r by reflexivity.
        apply pos_INR.
    - rewrite size, Rmult_0_r, Ropp_0, exp_0, Rmult_1_r. apply Rle_refl.
  Qed.
End Distribution.

Print Assumptions gumbel_noise_draws_largest.
Print Assumptions drawn_as_often_as_rounds.
Print Assumptions rounds_are_a_distribution.
