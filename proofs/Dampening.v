(** Dampened and shifted scores are unit scores for every admissible sensitivity function.

    [delta x t r] bounds what one neighbour step can change of the score of candidate r in any
    database within distance t of x. *)

Require Import Reals List Lra Lia Psatz.
Require Import UnitScores.
Open Scope R_scope.

Section Dampening.
  (** One candidate; the theorems hold for each. *)
  Context {X : Type} (near : X -> X -> Prop) (u : X -> R) (delta : X -> nat -> R).

  Hypothesis near_sym : forall x y, near x y -> near y x.

  (** Admissibility (Farias et al. 2023, Definition 6, with the y that the paper omits). *)
  Hypothesis delta_nonneg : forall x t, 0 <= delta x t.
  Hypothesis covers_local : forall x y, near x y -> Rabs (u x - u y) <= delta x 0.
  Hypothesis covers_neighbours : forall x y t, near x y -> delta y t <= delta x (S t).

  (** b_n, the sum of the first n sensitivities. *)
  Fixpoint accumulated (d : nat -> R) (n : nat) : R :=
    match n with
    | O => 0
    | S n => accumulated d n + d n
    end.

  (** [m] is the number of leading zeros of [d], cut at [longest], which is public. *)
  Context (longest : nat).

  Definition zeros (d : nat -> R) (m : nat) : Prop :=
    (m <= longest)%nat /\ (forall t, (t < m)%nat -> d t = 0) /\ (m = longest \/ d m <> 0).

  (** [dampens d h v]: the height [h >= 0] is dampened to [v] (Definition 12):
      v = i + (h - b_i) / d_i where b_i <= h < b_{i+1}. For h = 0 that is the number of leading
      zeros. *)
  Definition dampens (d : nat -> R) (h v : R) : Prop :=
    (h = 0 /\ exists m, zeros d m /\ v = INR m)
    \/ (0 < h /\ exists i, accumulated d i <= h < accumulated d (S i)
                          /\ v = INR i + (h - accumulated d i) / d i).

  (** Scores of either sign: odd, but for 0, which is dampened as the scores above it are. *)
  Definition dampens_score (d : nat -> R) (s v : R) : Prop :=
    (0 <= s /\ dampens d s v) \/ (s < 0 /\ dampens d (- s) (- v)).

  Lemma accumulated_monotone d i j :
    (forall t, 0 <= d t) -> (i <= j)%nat -> accumulated d i <= accumulated d j.
  Proof.
    intros H. induction 1 as [|j _ IH]; [lra|]. simpl. specialize (H j). lra.
  Qed.

  Lemma accumulated_step x y i :
    near x y -> accumulated (delta x) i + delta y 0 <= accumulated (delta y) (S i).
  Proof.
    intros N. induction i as [|i IH]; [simpl; lra|].
    assert (delta x i <= delta y (S i)) by (apply covers_neighbours, near_sym; assumption).
    change (accumulated (delta y) (S (S i)))
      with (accumulated (delta y) (S i) + delta y (S i)).
    simpl accumulated at 1. lra.
  Qed.

  (** Where the first sensitivity is not 0, there is none. *)
  Lemma zeros_none d m : d 0%nat <> 0 -> zeros d m -> m = 0%nat.
  Proof.
    intros H [_ [Z _]]. destruct m as [|m]; [reflexivity|]. exfalso. apply H, Z. lia.
  Qed.

  Lemma zeros_unique d m n : zeros d m -> zeros d n -> m = n.
  Proof.
    intros [Lm [Zm Em]] [Ln [Zn En]].
    destruct (lt_eq_lt_dec m n) as [[Lt|E]|Gt]; [exfalso|assumption|exfalso].
    - destruct Em as [Em|Em]; [lia|]. apply Em, Zn. assumption.
    - destruct En as [En|En]; [lia|]. apply En, Zm. assumption.
  Qed.

  Lemma zeros_exists d : exists m, zeros d m.
  Proof.
    assert (G : forall n, (n <= longest)%nat ->
      exists m, (m <= n)%nat /\ (forall t, (t < m)%nat -> d t = 0) /\ (m = n \/ d m <> 0)).
    { induction n as [|n IH]; intros B.
      - exists 0%nat. repeat split; [lia|intros; lia|left; reflexivity].
      - destruct IH as [m [Lm [Zm Em]]]; [lia|].
        destruct (Req_dec (d m) 0) as [Z|NZ].
        + destruct Em as [Em|Em]; [|contradiction]. subst m. exists (S n).
          repeat split; [lia| |left; reflexivity].
          intros t Ht. destruct (Nat.eq_dec t n) as [->|NE]; [assumption|apply Zm; lia].
        + exists m. repeat split; [lia|assumption|right; assumption]. }
    destruct (G longest (le_n _)) as [m H]. exists m. exact H.
  Qed.

  (** One neighbour step takes away at most one leading zero. *)
  Lemma zeros_step x y m n :
    near x y -> zeros (delta x) m -> zeros (delta y) n -> (n <= S m)%nat.
  Proof.
    intros N [Lm [Zm Em]] [Ln [Zn _]].
    destruct (le_lt_dec n (S m)) as [L|G]; [assumption|exfalso].
    destruct Em as [Em|Em]; [lia|]. apply Em.
    assert (delta y (S m) = 0) by (apply Zn; assumption).
    assert (delta x m <= delta y (S m)) by (apply covers_neighbours, near_sym; assumption).
    specialize (delta_nonneg x m). lra.
  Qed.

  Lemma dampens_nonneg d h v : (forall t, 0 <= d t) -> dampens d h v -> 0 <= v.
  Proof.
    intros H [[_ [m [_ E]]]|[P [i [[L U] E]]]]; [subst v; apply pos_INR|]. subst v.
    simpl in U. assert (0 < d i) by lra.
    assert (0 <= (h - accumulated d i) / d i)
      by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; assumption]).
    pose proof (pos_INR i). lra.
  Qed.

  (** Below the first sensitivity the dampened height is a quotient. *)
  Lemma dampens_first d h v :
    (forall t, 0 <= d t) -> dampens d h v -> h < d 0%nat -> v = h / d 0%nat.
  Proof.
    intros H [[E1 [m [M E2]]]|[P [i [[L U] E]]]] F.
    - subst. rewrite (zeros_none d m) by (assumption || lra). simpl. unfold Rdiv. ring.
    - destruct i as [|i].
      + subst v. simpl. unfold Rdiv. ring.
      + exfalso. pose proof (accumulated_monotone d 1 (S i) H ltac:(lia)). simpl in *. lra.
  Qed.

  (** One neighbour step raises a dampened height by at most 1, if the sign stays. *)
  Lemma same_sign x y h k v w :
    near x y -> 0 <= h -> 0 <= k -> Rabs (h - k) <= delta x 0 -> Rabs (h - k) <= delta y 0 ->
    dampens (delta x) h v -> dampens (delta y) k w -> w <= v + 1.
  Proof.
    intros N Hh Hk Hx Hy Dh Dk.
    apply Rabs_le_between in Hx. apply Rabs_le_between in Hy.
    assert (V : 0 <= v) by (apply (dampens_nonneg (delta x) h); auto).
    destruct Dk as [[Ek [n [Ln Ew]]]|[Pk [j [[Lj Uj] Ew]]]].
    { subst k w. destruct Dh as [[Eh [m [Lm Ev]]]|[Ph _]].
      - (* Both scores are 0: the numbers of leading zeros are a step apart. *)
        subst v. rewrite <- S_INR. apply le_INR, (zeros_step x y); assumption.
      - (* Only that of x is not, so that the first sensitivities are not 0. *)
        rewrite (zeros_none (delta y) n) by (assumption || lra). simpl. lra. }
    simpl in Uj. assert (Dj : 0 < delta y j) by lra.
    assert (Fj : (k - accumulated (delta y) j) / delta y j < 1).
    { apply (Rmult_lt_reg_r (delta y j)); [assumption|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    destruct Dh as [[Eh [m [Lm Ev]]]|[Ph [i [[Li Ui] Ev]]]].
    - (* h = 0: k is within the first sensitivity of y. *)
      subst h v. clear V. rewrite (zeros_none (delta x) m) in * by (assumption || lra).
      simpl INR. assert (Kx : k <= delta x 0) by lra. assert (Ky : k <= delta y 0) by lra.
      destruct j as [|[|j]].
      + subst w. simpl in *. lra.
      + (* k = b_1, exactly one step. *)
        subst w. simpl in *. assert (k = delta y 0) by lra. subst k.
        replace ((delta y 0 - (0 + delta y 0)) / delta y 1) with 0 by (field; lra). lra.
      + exfalso.
        assert (delta x 0 <= delta y 1) by (apply covers_neighbours, near_sym; assumption).
        pose proof (accumulated_monotone (delta y) 2 (S (S j)) (delta_nonneg y) ltac:(lia)).
        simpl in *. lra.
    - simpl in Ui. assert (Di : 0 < delta x i) by lra.
      assert (Fi : 0 <= (h - accumulated (delta x) i) / delta x i).
      { apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; assumption]. }
      pose proof (accumulated_step x y i N) as Step.
      pose proof (accumulated_step x y (S i) N) as Step'. simpl in Step, Step'.
      assert (Up : delta x i <= delta y (S i))
        by (apply covers_neighbours, near_sym; assumption).
      destruct (le_lt_dec j i) as [Jle|Jlt].
      + (* k lies at or below interval i of y. *)
        subst v w. apply le_INR in Jle. lra.
      + destruct (Nat.eq_dec j (S i)) as [E|NE].
        * (* k lies in the interval that covers that of h. *)
          subst j w v. rewrite S_INR.
          set (e := delta y (S i)) in *. set (d := delta x i) in *.
          set (bx := accumulated (delta x) i) in *.
          set (by' := accumulated (delta y) i + delta y i) in *.
          assert (G : (k - by') / e <= (h - bx) / d).
          { apply (Rmult_le_reg_r (d * e)); [nra|].
            replace ((k - by') / e * (d * e)) with ((k - by') * d) by (field; lra).
            replace ((h - bx) / d * (d * e)) with ((h - bx) * e) by (field; lra).
            assert (k - by' <= h - bx) by (unfold by', bx in *; simpl in *; lra).
            simpl in Lj. nra. }
          simpl accumulated. fold by'. lra.
        * exfalso. assert (JJ : (S (S i) <= j)%nat) by lia.
          pose proof (accumulated_monotone (delta y) (S (S i)) j (delta_nonneg y) JJ).
          simpl in *. lra.
  Qed.

  Lemma quotient_le h a d : 0 < a -> 0 <= h -> a <= d -> h / d <= h / a.
  Proof.
    intros A H L. apply Rmult_le_compat_l; [assumption|].
    apply Rinv_le_contravar; assumption.
  Qed.

  (** Scores of opposite signs both lie within the first sensitivities. *)
  Lemma opposite_signs d1 d2 h k v w a :
    (forall t, 0 <= d1 t) -> (forall t, 0 <= d2 t) ->
    0 < h -> 0 < k -> h + k <= a -> a <= d1 0%nat -> a <= d2 0%nat ->
    dampens d1 h v -> dampens d2 k w -> v + w <= 1.
  Proof.
    intros N1 N2 Hh Hk S A1 A2 D1 D2.
    assert (Vv : v = h / d1 0%nat) by (apply dampens_first; auto; lra).
    assert (Ww : w = k / d2 0%nat) by (apply dampens_first; auto; lra).
    assert (h / d1 0%nat <= h / a) by (apply quotient_le; lra).
    assert (k / d2 0%nat <= k / a) by (apply quotient_le; lra).
    assert (h / a + k / a <= 1).
    { replace (h / a + k / a) with ((h + k) / a) by (field; lra).
      apply (Rmult_le_reg_r a); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    lra.
  Qed.

  (** Beside scores below it, 0 is dampened to 0. *)
  Lemma dampens_zero d v : d 0%nat <> 0 -> dampens d 0 v -> v = 0.
  Proof.
    intros H [[_ [m [M E]]]|[P _]]; [|lra]. rewrite (zeros_none d m H M) in E. assumption.
  Qed.

  (** Local dampening, Lemma 4: the dampened score moves by at most 1. *)
  Theorem dampened_scores_are_unit_scores x y v w :
    near x y -> dampens_score (delta x) (u x) v -> dampens_score (delta y) (u y) w ->
    Rabs (v - w) <= 1.
  Proof.
    intros N Dx Dy. pose proof (near_sym _ _ N) as N'.
    pose proof (covers_local _ _ N) as Cx. pose proof (covers_local _ _ N') as Cy.
    rewrite Rabs_minus_sym in Cy.
    assert (swap : forall a b, Rabs (a - b) = Rabs (b - a)) by (intros; apply Rabs_minus_sym).
    destruct Dx as [[Sx Dx]|[Sx Dx]]; destruct Dy as [[Sy Dy]|[Sy Dy]]; apply Rabs_le.
    - assert (w <= v + 1) by (apply (same_sign x y (u x) (u y)); auto).
      assert (v <= w + 1) by (apply (same_sign y x (u y) (u x)); auto; rewrite swap; auto).
      lra.
    - destruct (Req_dec (u x) 0) as [Z|NZ].
      + rewrite Z in *. assert (0 < delta x 0) by (apply Rabs_le_between in Cx; lra).
        assert (v = 0) by (apply (dampens_zero (delta x)); [lra|assumption]).
        assert (0 <= - w) by (apply (dampens_nonneg (delta y) (- u y)); auto).
        assert (- w <= v + 1).
        { apply (same_sign x y 0 (- u y)); auto; try lra;
            replace (0 - - u y) with (- (0 - u y)) by ring; rewrite Rabs_Ropp; assumption. }
        lra.
      + assert (0 <= v) by (apply (dampens_nonneg (delta x) (u x)); auto).
        assert (0 <= - w) by (apply (dampens_nonneg (delta y) (- u y)); auto).
        apply Rabs_le_between in Cx. apply Rabs_le_between in Cy.
        assert (v + - w <= 1).
        { apply (opposite_signs (delta x) (delta y) (u x) (- u y) v (- w) (u x - u y));
            auto; lra. }
        lra.
    - destruct (Req_dec (u y) 0) as [Z|NZ].
      + rewrite Z in *. assert (0 < delta y 0) by (apply Rabs_le_between in Cy; lra).
        assert (w = 0) by (apply (dampens_zero (delta y)); [lra|assumption]).
        assert (0 <= - v) by (apply (dampens_nonneg (delta x) (- u x)); auto).
        assert (- v <= w + 1).
        { apply (same_sign y x 0 (- u x)); auto; try lra;
            replace (0 - - u x) with (u x - 0) by ring; assumption. }
        lra.
      + assert (0 <= - v) by (apply (dampens_nonneg (delta x) (- u x)); auto).
        assert (0 <= w) by (apply (dampens_nonneg (delta y) (u y)); auto).
        apply Rabs_le_between in Cx. apply Rabs_le_between in Cy.
        assert (- v + w <= 1).
        { apply (opposite_signs (delta x) (delta y) (- u x) (u y) (- v) w (u y - u x));
            auto; lra. }
        lra.
    - assert (flip : forall a b, Rabs (- a - - b) = Rabs (a - b)).
      { intros. replace (- a - - b) with (- (a - b)) by ring. apply Rabs_Ropp. }
      assert (- w <= - v + 1).
      { apply (same_sign x y (- u x) (- u y)); auto; try lra; rewrite flip; auto. }
      assert (- v <= - w + 1).
      { apply (same_sign y x (- u y) (- u x)); auto; try lra; rewrite flip, swap; auto. }
      lra.
  Qed.

  (** The definition gives one number: intervals do not overlap. *)
  Theorem dampened_score_is_unique d h v w :
    (forall t, 0 <= d t) -> dampens d h v -> dampens d h w -> v = w.
  Proof.
    intros N [[E1 [m [M1 F1]]]|[P1 [i [[L1 U1] F1]]]]
      [[E2 [n [M2 F2]]]|[P2 [j [[L2 U2] F2]]]]; try lra.
    { rewrite (zeros_unique d m n M1 M2) in F1. lra. }
    assert (i = j).
    { destruct (lt_eq_lt_dec i j) as [[Lt|E]|Gt]; [exfalso|assumption|exfalso].
      - pose proof (accumulated_monotone d (S i) j N Lt). lra.
      - pose proof (accumulated_monotone d (S j) i N Gt). lra. }
    subst. reflexivity.
  Qed.

  (** With sensitivities of at least [bound > 0] from a horizon on, every score has one. *)
  Theorem dampened_score_exists d h bound horizon :
    (forall t, 0 <= d t) -> 0 < bound -> (forall t, (horizon <= t)%nat -> bound <= d t) ->
    0 <= h -> exists v, dampens d h v.
  Proof.
    intros N B T H.
    destruct (Req_dec h 0) as [Z|NZ].
    { destruct (zeros_exists d) as [m M]. exists (INR m). left. split; [assumption|].
      exists m. split; [assumption|reflexivity]. }
    assert (far : exists n, h < accumulated d n).
    { assert (big : exists m, h / bound < INR m).
      { destruct (archimed (h / bound)) as [Up _]. exists (Z.to_nat (up (h / bound))).
        rewrite INR_IZR_INZ, Z2Nat.id; [lra|]. apply le_IZR.
        assert (0 <= h / bound)
          by (apply Rmult_le_pos; [assumption|left; apply Rinv_0_lt_compat; assumption]).
        lra. }
      destruct big as [m Hm].
      exists (horizon + m)%nat.
      assert (G : INR m * bound <= accumulated d (horizon + m)).
      { clear Hm. induction m as [|m IH].
        - simpl INR. rewrite Rmult_0_l.
          pose proof (accumulated_monotone d 0 (horizon + 0) N ltac:(lia)). simpl in *. lra.
        - rewrite S_INR. replace (horizon + S m)%nat with (S (horizon + m)) by lia. simpl.
          assert (bound <= d (horizon + m)%nat) by (apply T; lia). lra. }
      apply (Rmult_lt_compat_r bound) in Hm; [|assumption].
      unfold Rdiv in Hm. rewrite Rmult_assoc, Rinv_l in Hm by lra. lra. }
    destruct far as [n Hn].
    assert (found : exists i, accumulated d i <= h < accumulated d (S i)).
    { induction n as [|n IH]; [simpl in Hn; lra|].
      destruct (Rle_lt_dec (accumulated d n) h) as [L|G]; [exists n; lra|auto]. }
    destruct found as [i Hi].
    exists (INR i + (h - accumulated d i) / d i). right. split; [lra|].
    exists i. split; [assumption|reflexivity].
  Qed.

  (** ** Shifted local dampening in closed form (limit of Definitions 15 and 16) *)

  Context (Delta : R) (horizon : nat).
  Hypothesis Delta_pos : 0 < Delta.
  Hypothesis capped : forall x t, delta x t <= Delta.
  Hypothesis at_horizon : forall x, delta x horizon = Delta.

  Fixpoint shortfall (d : nat -> R) (n : nat) : R :=
    match n with
    | O => 0
    | S n => shortfall d n + (Delta - d n)
    end.

  (** Scores whose sensitivity grows with the score (Definition 15), and shrinks (16). *)
  Definition shifted_down x : R := (u x - shortfall (delta x) horizon) / Delta.
  Definition shifted_up x : R := (u x + shortfall (delta x) horizon) / Delta.

  Lemma shortfall_of_accumulated d n : shortfall d n = INR n * Delta - accumulated d n.
  Proof.
    induction n as [|n IH]; [simpl; ring|]. rewrite S_INR. simpl. rewrite IH. ring.
  Qed.

  Lemma accumulated_beyond d n :
    (forall t, (horizon <= t)%nat -> d t = Delta) ->
    accumulated d (horizon + n) = accumulated d horizon + INR n * Delta.
  Proof.
    intros T. induction n as [|n IH]; [rewrite Nat.add_0_r; simpl; ring|].
    rewrite Nat.add_succ_r, S_INR. simpl. rewrite IH, T by lia. ring.
  Qed.

  (** Beyond the horizon heights are dampened on one line. *)
  Lemma dampened_beyond x h v :
    (forall t, (horizon <= t)%nat -> delta x t = Delta) ->
    accumulated (delta x) horizon < h -> dampens (delta x) h v ->
    v = INR horizon + (h - accumulated (delta x) horizon) / Delta.
  Proof.
    intros T Far D. pose proof (accumulated_monotone (delta x) 0 horizon (delta_nonneg x)
      ltac:(apply Nat.le_0_l)) as B. simpl in B.
    destruct D as [[Z _]|[_ [i [[L U] E]]]]; [lra|].
    assert (I : (horizon <= i)%nat).
    { destruct (le_lt_dec horizon i) as [G|G]; [assumption|exfalso].
      pose proof (accumulated_monotone (delta x) (S i) horizon (delta_nonneg x) G). lra. }
    replace i with (horizon + (i - horizon))%nat in E by lia.
    set (n := (i - horizon)%nat) in E. rewrite (accumulated_beyond _ n T), plus_INR in E.
    rewrite T in E by lia. rewrite E. field. lra.
  Qed.

  (** If the sensitivity is Delta from the horizon on, a score that is moved down by [c] is
      dampened to the closed form less [c / Delta], for every [c] that is large enough: the limit
      is attained. Up by [c] it is the other closed form. *)
  Theorem shifted_down_is_the_limit x c v :
    (forall t, (horizon <= t)%nat -> delta x t = Delta) ->
    u x + accumulated (delta x) horizon < c ->
    dampens_score (delta x) (u x - c) v -> v + c / Delta = shifted_down x.
  Proof.
    intros T Far. pose proof (accumulated_monotone (delta x) 0 horizon (delta_nonneg x)
      ltac:(apply Nat.le_0_l)) as B. simpl in B.
    intros [[S _]|[_ V]]; [lra|].
    assert (W : - v = INR horizon + (c - u x - accumulated (delta x) horizon) / Delta).
    { apply (dampened_beyond x); auto; [lra|]. replace (c - u x) with (- (u x - c)) by ring.
      assumption. }
    unfold shifted_down. rewrite shortfall_of_accumulated.
    replace v with (- (- v)) by ring. rewrite W. field. lra.
  Qed.

  Theorem shifted_up_is_the_limit x c v :
    (forall t, (horizon <= t)%nat -> delta x t = Delta) ->
    accumulated (delta x) horizon - u x < c ->
    dampens_score (delta x) (u x + c) v -> v - c / Delta = shifted_up x.
  Proof.
    intros T Far. pose proof (accumulated_monotone (delta x) 0 horizon (delta_nonneg x)
      ltac:(apply Nat.le_0_l)) as B. simpl in B.
    intros [[_ V]|[S _]]; [|lra].
    rewrite (dampened_beyond x (u x + c) v); auto; [|lra].
    unfold shifted_up. rewrite shortfall_of_accumulated. field. lra.
  Qed.

  Lemma shortfall_step x y n :
    near x y ->
    shortfall (delta x) n - shortfall (delta y) n <= delta x n - delta x 0.
  Proof.
    intros N. induction n as [|n IH]; simpl; [lra|].
    assert (delta y n <= delta x (S n)) by (apply covers_neighbours; assumption). lra.
  Qed.

  Lemma quotient_step a b : a - b <= Delta -> b - a <= Delta -> Rabs (a / Delta - b / Delta) <= 1.
  Proof.
    intros H1 H2. apply Rabs_le.
    assert (I : 0 < / Delta) by (apply Rinv_0_lt_compat; assumption).
    assert (E : Delta * / Delta = 1) by (apply Rinv_r; lra).
    unfold Rdiv. split; nra.
  Qed.

  Theorem shifted_scores_are_unit_scores x y :
    near x y ->
    Rabs (shifted_down x - shifted_down y) <= 1 /\ Rabs (shifted_up x - shifted_up y) <= 1.
  Proof.
    intros N. pose proof (near_sym _ _ N) as N'.
    pose proof (covers_local _ _ N) as Cx. pose proof (covers_local _ _ N') as Cy.
    apply Rabs_le_between in Cx. apply Rabs_le_between in Cy.
    pose proof (shortfall_step x y horizon N) as Sx.
    pose proof (shortfall_step y x horizon N') as Sy.
    rewrite at_horizon in Sx, Sy.
    split; apply quotient_step; lra.
  Qed.
End Dampening.

(** ** Dividing by the global sensitivity *)

Theorem global_scores_are_unit_scores (a b Delta : R) :
  0 < Delta -> Rabs (a - b) <= Delta -> Rabs (a / Delta - b / Delta) <= 1.
Proof.
  intros D H. apply Rabs_le_between in H. apply Rabs_le.
  assert (I : 0 < / Delta) by (apply Rinv_0_lt_compat; assumption).
  assert (E : Delta * / Delta = 1) by (apply Rinv_r; lra).
  unfold Rdiv. split; nra.
Qed.
