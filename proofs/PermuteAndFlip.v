(** Permute-and-flip on unit scores is epsilon-differentially private.

    The distribution is that of the algorithm: visit the candidates in uniformly random order and
    release the first accepted one, where candidate j is accepted with probability
    [exp (epsilon / 2 * (s j - top))] for the largest score [top]. *)

Require Import Reals List Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
Require Import UnitScores.
Import ListNotations.
Open Scope R_scope.

(** ** The distribution by the algorithm, and as an integral *)

(** Every element of a list with the list that is left without it. *)
Fixpoint picks {A : Type} (l : list A) : list (A * list A) :=
  match l with
  | [] => []
  | p :: rest => (p, rest) :: map (fun q => (fst q, p :: snd q)) (picks rest)
  end.

(** The probability that a given candidate is visited before any of the others, which accept
    with the probabilities in the list, is accepted: with chance 1/(n + 1) it is the next
    visited, else another one is and refuses. The first argument bounds the length. *)
Fixpoint reached (fuel : nat) (l : list R) : R :=
  match fuel with
  | O => 1
  | S fuel =>
      (1 + total (fun q => (1 - fst q) * reached fuel (snd q)) (picks l))
      / (INR (length l) + 1)
  end.

(** The probability that all of a list refuse among those that arrive before time [z], if
    every candidate arrives at a uniform time in [0, 1]. *)
Fixpoint refused (l : list R) (z : R) : R :=
  match l with
  | [] => 1
  | p :: rest => (1 - p * z) * refused rest z
  end.

Definition slope (l : list R) (z : R) : R :=
  total (fun q => - fst q * refused (snd q) z) (picks l).

Lemma total_map {A B : Type} (f : B -> R) (g : A -> B) (l : list A) :
  total f (map g l) = total (fun a => f (g a)) l.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; reflexivity. Qed.

Lemma total_ext {A : Type} (f g : A -> R) (l : list A) :
  (forall a, In a l -> f a = g a) -> total f l = total g l.
Proof.
  induction l as [|a l IH]; simpl; intros H; [reflexivity|].
  rewrite H by (left; reflexivity). f_equal. apply IH. intros; apply H; right; assumption.
Qed.

Lemma slope_cons p l z : slope (p :: l) z = - p * refused l z + (1 - p * z) * slope l z.
Proof.
  unfold slope. simpl. f_equal. rewrite total_map, <- total_scale. simpl.
  apply total_ext. intros; ring.
Qed.

Lemma refused_derivative l z : is_derive (refused l) z (slope l z).
Proof.
  induction l as [|p l IH].
  - unfold slope; simpl. apply (is_derive_const (1 : R) z).
  - rewrite slope_cons. simpl.
    assert (D : is_derive (fun z => 1 - p * z) z (- p)) by (auto_derive; [trivial|ring]).
    apply (is_derive_ext (fun z => mult (1 - p * z) (refused l z))); [reflexivity|].
    replace (- p * refused l z + (1 - p * z) * slope l z)
      with (plus (mult (- p) (refused l z)) (mult (1 - p * z) (slope l z)))
      by reflexivity.
    apply (is_derive_mult (fun z => 1 - p * z) (refused l)); auto.
    intros; apply Rmult_comm.
Qed.

Lemma refused_continuous l z : continuous (refused l) z.
Proof.
  apply (ex_derive_continuous (refused l)). exists (slope l z). apply refused_derivative.
Qed.

Lemma refused_integrable l a b : ex_RInt (refused l) a b.
Proof. apply (ex_RInt_continuous (refused l)). intros; apply refused_continuous. Qed.

Definition share (l : list R) : R := RInt (refused l) 0 1.

Lemma total_integral {A : Type} (f : A -> R -> R) (l : list A) :
  (forall a, In a l -> ex_RInt (f a) 0 1) ->
  is_RInt (fun z => total (fun a => f a z) l) 0 1 (total (fun a => RInt (f a) 0 1) l).
Proof.
  induction l as [|a l IH]; simpl; intros H.
  - pose proof (is_RInt_const 0 1 (0 : R)) as E.
    refine (eq_ind _ (fun v => is_RInt (fun _ : R => 0) 0 1 v) E 0 _).
    unfold scal; simpl; unfold mult; simpl; ring.
  - apply (is_RInt_plus (f a)).
    + apply (RInt_correct (f a)). apply H; left; reflexivity.
    + apply IH. intros; apply H; right; assumption.
Qed.

Lemma picks_refused l q z :
  In q (picks l) -> (1 - fst q * z) * refused (snd q) z = refused l z.
Proof.
  revert q. induction l as [|p l IH]; simpl; [tauto|]. intros q [E|H].
  - subst q; reflexivity.
  - apply in_map_iff in H. destruct H as [r [E H]]. subst q. simpl.
    rewrite <- (IH r H). ring.
Qed.

Lemma picks_length {A : Type} (l : list A) q : In q (picks l) -> S (length (snd q)) = length l.
Proof.
  revert q. induction l as [|p l IH]; simpl; [tauto|]. intros q [E|H].
  - subst q; reflexivity.
  - apply in_map_iff in H. destruct H as [r [E H]]. subst q. simpl.
    rewrite (IH r H). reflexivity.
Qed.

Lemma total_const {A : Type} (k : R) (l : list A) :
  total (fun _ => k) l = INR (length l) * k.
Proof.
  induction l as [|a l IH]; [simpl; ring|].
  cbn [total length]. rewrite IH, S_INR. ring.
Qed.

Lemma total_minus {A : Type} (f g : A -> R) (l : list A) :
  total (fun a => f a - g a) l = total f l - total g l.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma picks_number {A : Type} (l : list A) : length (picks l) = length l.
Proof. induction l as [|p l IH]; simpl; [|rewrite map_length, IH]; reflexivity. Qed.

(** z slope = (number of others) refused - the sum of refused without one of them. *)
Lemma slope_by_time l z :
  z * slope l z
  = INR (length l) * refused l z - total (fun q => refused (snd q) z) (picks l).
Proof.
  unfold slope. rewrite <- total_scale, <- (picks_number l).
  rewrite <- (total_const (refused l z) (picks l)), <- total_minus.
  apply total_ext. intros q Hq. rewrite <- (picks_refused l q z Hq). ring.
Qed.

(** Each of a list is released with its acceptance times its share, and none of them with the
    probability that all refuse. *)
Lemma released_or_refused l :
  total (fun q => fst q * share (snd q)) (picks l) = 1 - refused l 1.
Proof.
  (* Integrate the derivative of refused over [0, 1]. *)
  set (weighted := total (fun q => fst q * share (snd q)) (picks l)).
  assert (slope_integral : is_RInt (slope l) 0 1 (- weighted)).
  { unfold weighted. replace (- total (fun q => fst q * share (snd q)) (picks l))
      with (total (fun q => RInt (fun z => - fst q * refused (snd q) z) 0 1) (picks l)).
    - apply total_integral. intros q _.
      apply (ex_RInt_scal (refused (snd q)) 0 1 (- fst q)). apply refused_integrable.
    - replace (- total (fun q => fst q * share (snd q)) (picks l))
        with (-1 * total (fun q => fst q * share (snd q)) (picks l)) by ring.
      rewrite <- total_scale. apply total_ext. intros q _.
      transitivity (- fst q * RInt (refused (snd q)) 0 1); [|unfold share; ring].
      apply (RInt_scal (refused (snd q)) 0 1 (- fst q)). apply refused_integrable. }
  assert (slope_ends : is_RInt (slope l) 0 1 (minus (refused l 1) (refused l 0))).
  { apply (is_RInt_derive (refused l)).
    - intros; apply refused_derivative.
    - intros z _. unfold slope.
      clear. induction (picks l) as [|q qs IH]; simpl; [apply continuous_const|].
      apply (continuous_plus (fun z => - fst q * refused (snd q) z)); [|assumption].
      apply (continuous_scal_r (- fst q) (refused (snd q))), refused_continuous. }
  assert (E1 : - weighted = refused l 1 - refused l 0).
  { rewrite <- (is_RInt_unique _ _ _ _ slope_integral).
    apply (is_RInt_unique _ _ _ _ slope_ends). }
  assert (at_zero : refused l 0 = 1).
  { clear. induction l as [|p l IH]; simpl; [|rewrite IH]; ring. }
  lra.
Qed.

Lemma share_recursion l :
  (INR (length l) + 1) * share l = 1 + total (fun q => (1 - fst q) * share (snd q)) (picks l).
Proof.
  (* Integrate the derivative of z refused over [0, 1]. *)
  set (others := total (fun q => share (snd q)) (picks l)).
  set (weighted := total (fun q => fst q * share (snd q)) (picks l)).
  pose proof (released_or_refused l) as E1. fold weighted in E1.
  assert (at_zero : refused l 0 = 1).
  { clear. induction l as [|p l IH]; simpl; [|rewrite IH]; ring. }
  set (f := fun z => (INR (length l) + 1) * refused l z
                     - total (fun q => refused (snd q) z) (picks l)).
  assert (time_integral : is_RInt f 0 1 ((INR (length l) + 1) * share l - others)).
  { unfold f, others. apply (is_RInt_minus (fun z => (INR (length l) + 1) * refused l z)).
    - apply (is_RInt_scal (refused l)), (RInt_correct (refused l)), refused_integrable.
    - apply total_integral. intros; apply refused_integrable. }
  assert (time_ends : is_RInt f 0 1 (minus (1 * refused l 1) (0 * refused l 0))).
  { apply (is_RInt_derive (fun z => z * refused l z)).
    - intros z _. unfold f.
      replace ((INR (length l) + 1) * refused l z
               - total (fun q => refused (snd q) z) (picks l))
        with (plus (mult 1 (refused l z)) (mult z (slope l z))).
      + apply (is_derive_mult (fun z => z) (refused l)).
        * apply (is_derive_id z).
        * apply refused_derivative.
        * intros; apply Rmult_comm.
      + unfold plus, mult; simpl. unfold mult; simpl.
        rewrite (slope_by_time l z). ring.
    - intros z _. unfold f.
      apply (continuous_minus (fun z => (INR (length l) + 1) * refused l z)).
      + apply (continuous_scal_r (INR (length l) + 1) (refused l)), refused_continuous.
      + clear. induction (picks l) as [|q qs IH]; simpl; [apply continuous_const|].
        apply (continuous_plus (refused (snd q))); [apply refused_continuous|assumption]. }
  assert (E2 : (INR (length l) + 1) * share l - others = 1 * refused l 1 - 0 * refused l 0).
  { rewrite <- (is_RInt_unique _ _ _ _ time_integral).
    apply (is_RInt_unique _ _ _ _ time_ends). }
  assert (E3 : total (fun q => (1 - fst q) * share (snd q)) (picks l) = others - weighted).
  { unfold others, weighted. rewrite <- total_minus. apply total_ext. intros; ring. }
  rewrite E3. lra.
Qed.

(** The algorithm's recursion and the integral are the same number. *)
Theorem reached_is_share n l : length l = n -> reached n l = share l.
Proof.
  revert l. induction n as [|n IH]; intros l L.
  - destruct l; [|discriminate]. simpl. unfold share. simpl.
    rewrite RInt_const. unfold scal; simpl; unfold mult; simpl. ring.
  - assert (P : 0 < INR (length l) + 1) by (pose proof (pos_INR (length l)); lra).
    cbn [reached]. rewrite (total_ext _ (fun q => (1 - fst q) * share (snd q))).
    + rewrite <- (share_recursion l). field. lra.
    + intros q Hq. rewrite IH; [reflexivity|].
      apply picks_length in Hq. lia.
Qed.

(** ** A distribution *)

Lemma refused_by_a_sure_one l z : In 1 l -> z = 1 -> refused l z = 0.
Proof.
  intros H E. subst z. induction l as [|p l IH]; simpl in *; [tauto|].
  destruct H as [H|H]; [subst p|rewrite (IH H)]; ring.
Qed.

(** The probabilities of all candidates add up to 1, as a best one is accepted for sure. *)
Theorem permute_and_flip_is_a_distribution l :
  In 1 l -> total (fun q => fst q * reached (length (snd q)) (snd q)) (picks l) = 1.
Proof.
  intros H. rewrite (total_ext _ (fun q => fst q * share (snd q))).
  - rewrite released_or_refused, (refused_by_a_sure_one l 1 H); [ring|reflexivity].
  - intros q _. rewrite reached_is_share; reflexivity.
Qed.

(** ** Privacy *)

Lemma refused_range l z :
  0 <= z <= 1 -> (forall p, In p l -> 0 <= p <= 1) -> 0 <= refused l z <= 1.
Proof.
  intros Hz. induction l as [|p l IH]; simpl; intros H; [lra|].
  assert (0 <= p <= 1) by (apply H; left; reflexivity).
  assert (0 <= refused l z <= 1) by (apply IH; intros; apply H; right; assumption).
  assert (0 <= p * z <= 1) by nra. nra.
Qed.

Lemma refused_step {C : Type} (A B : C -> R) (k z : R) (l : list C) :
  0 <= k * z <= 1 -> 0 <= z <= 1 ->
  (forall j, In j l -> 0 <= A j <= 1 /\ 0 <= B j <= 1 /\ B j <= k * A j) ->
  refused (map A l) (k * z) <= refused (map B l) z.
Proof.
  intros Hkz Hz. induction l as [|j l IH]; simpl; intros H; [lra|].
  destruct (H j (or_introl eq_refl)) as [HA [HB HAB]].
  assert (IH' : refused (map A l) (k * z) <= refused (map B l) z).
  { apply IH. intros; apply H; right; assumption. }
  assert (pos : 0 <= refused (map A l) (k * z) <= 1).
  { apply refused_range; [assumption|]. intros p Hp. apply in_map_iff in Hp.
    destruct Hp as [i [E Hi]]. subst p. apply (H i). right; assumption. }
  assert (0 <= 1 - A j * (k * z)) by nra.
  assert (1 - A j * (k * z) <= 1 - B j * z) by nra.
  apply Rmult_le_compat; lra.
Qed.

Section Privacy.
  Context {C : Type} (others : list C) (r : C) (epsilon : R).
  Hypothesis epsilon_pos : 0 < epsilon.

  Definition accept (s : C -> R) (top : R) (j : C) : R := exp (epsilon / 2 * (s j - top)).

  (** The probability of [r] among [r] and the others. *)
  Definition permute_and_flip (s : C -> R) (top : R) : R :=
    accept s top r * reached (length others) (map (accept s top) others).

  (** The largest score of all candidates. *)
  Definition is_top (s : C -> R) (top : R) : Prop :=
    (exists j, In j (r :: others) /\ s j = top) /\ forall j, In j (r :: others) -> s j <= top.

  Lemma accept_range s top j : is_top s top -> In j (r :: others) -> 0 <= accept s top j <= 1.
  Proof.
    intros [_ H] Hj. unfold accept. split; [left; apply exp_pos|].
    rewrite <- exp_0. apply exp_le. specialize (H j Hj). nra.
  Qed.

  (** If acceptances grow by at most a factor [k >= 1], shares fall by at most [k]. *)
  Lemma share_step (s t : C -> R) (a b k : R) :
    1 <= k -> is_top s a -> is_top t b ->
    (forall j, In j others -> accept t b j <= k * accept s a j) ->
    share (map (accept s a) others) <= k * share (map (accept t b) others).
  Proof.
    intros Hk Hs Ht H. unfold share.
    set (f := refused (map (accept s a) others)). set (g := refused (map (accept t b) others)).
    assert (scaled : RInt (fun z => k * f (k * z + 0)) 0 (/ k) = RInt f 0 1).
    { pose proof (RInt_comp_lin f k 0 0 (/ k)) as E.
      replace (k * 0 + 0) with 0 in E by ring.
      replace (k * / k + 0) with 1 in E by (field; lra).
      rewrite <- E by apply refused_integrable. reflexivity. }
    assert (K : 0 < / k) by (apply Rinv_0_lt_compat; lra).
    assert (K1 : / k <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
    assert (fits : ex_RInt (fun z => k * f (k * z + 0)) 0 (/ k)).
    { apply (ex_RInt_comp_lin f k 0 0 (/ k)). apply refused_integrable. }
    assert (fine : forall u v, ex_RInt (fun z => k * g z) u v).
    { intros u v. apply (ex_RInt_scal g u v k). apply refused_integrable. }
    assert (below : RInt (fun z => k * f (k * z + 0)) 0 (/ k)
                    <= RInt (fun z => k * g z) 0 (/ k)).
    { apply RInt_le; [lra|assumption|apply fine|]. intros z Hz.
      apply Rmult_le_compat_l; [lra|]. rewrite Rplus_0_r.
      assert (kz : 0 <= k * z <= 1).
      { split; [nra|]. apply (Rmult_le_reg_l (/ k)); [assumption|].
        rewrite <- Rmult_assoc, Rinv_l by lra. lra. }
      assert (z1 : 0 <= z <= 1) by lra.
      apply refused_step; try assumption. intros j Hj.
      split; [apply accept_range; auto; right; assumption|].
      split; [apply accept_range; auto; right; assumption|auto]. }
    assert (more : RInt (fun z => k * g z) 0 (/ k) <= RInt (fun z => k * g z) 0 1).
    { rewrite <- (RInt_Chasles (fun z => k * g z) 0 (/ k) 1) by apply fine.
      assert (0 <= RInt (fun z => k * g z) (/ k) 1).
      { apply RInt_ge_0; [assumption|apply fine|]. intros z Hz.
        assert (0 <= g z <= 1).
        { apply refused_range; [lra|]. intros p Hp. apply in_map_iff in Hp.
          destruct Hp as [i [E Hi]]. subst p. apply accept_range; auto. right; assumption. }
        nra. }
      unfold plus; simpl. lra. }
    rewrite <- scaled.
    apply Rle_trans with (1 := below), Rle_trans with (1 := more).
    right. apply (RInt_scal g 0 1 k). apply refused_integrable.
  Qed.

  Theorem permute_and_flip_is_private (s t : C -> R) (a b : R) :
    unit_step (r :: others) s t -> is_top s a -> is_top t b ->
    permute_and_flip s a <= exp epsilon * permute_and_flip t b.
  Proof.
    intros [c H] Hs Ht.
    (* The tops differ by at most 1, too. *)
    assert (step : forall j, In j (r :: others) -> -1 <= s j - t j - c <= 1).
    { intros j Hj. destruct (Rabs_le_between _ _ (H j Hj)). lra. }
    assert (tops : -1 <= a - b - c).
    { destruct Ht as [[j [Hj E]] _]. destruct Hs as [_ Hs].
      specialize (Hs j Hj). destruct (step j Hj). lra. }
    set (k := exp (epsilon / 2 * (1 + (a - b - c)))).
    assert (Hk : 1 <= k).
    { apply Rle_trans with (exp 0); [rewrite exp_0; lra|]. apply exp_le. nra. }
    assert (L : share (map (accept s a) others) <= k * share (map (accept t b) others)).
    { apply share_step; auto. intros j Hj. unfold accept, k. rewrite <- exp_plus.
      apply exp_le. destruct (step j (or_intror Hj)). nra. }
    assert (A : k * accept s a r <= exp epsilon * accept t b r).
    { unfold accept, k. rewrite <- !exp_plus. apply exp_le.
      destruct (step r (or_introl eq_refl)). nra. }
    unfold permute_and_flip.
    rewrite !reached_is_share by (rewrite map_length; reflexivity).
    assert (Gs : 0 <= accept s a r) by (left; apply exp_pos).
    assert (Gt : 0 <= share (map (accept t b) others)).
    { unfold share. apply RInt_ge_0; [lra|apply refused_integrable|]. intros z Hz.
      apply refused_range; [lra|]. intros p Hp. apply in_map_iff in Hp.
      destruct Hp as [i [E Hi]]. subst p. apply accept_range; auto. right; assumption. }
    apply Rle_trans with (accept s a r * (k * share (map (accept t b) others))).
    - apply Rmult_le_compat_l; assumption.
    - replace (accept s a r * (k * share (map (accept t b) others)))
        with ((k * accept s a r) * share (map (accept t b) others)) by ring.
      rewrite <- Rmult_assoc. apply Rmult_le_compat_r; assumption.
  Qed.
End Privacy.
