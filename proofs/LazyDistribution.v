(** The distribution of the draw by noise that is compared bit by bit: of all strings of bits no
    larger share draws a candidate than its probability. *)

Require Import Reals ZArith QArith Qreals List Lra Lia Bool Sorting.Sorted.
Require Import Inversion LazyNoise Strings.
Import ListNotations.
Open Scope R_scope.

Section Distribution.
  (** Bounds of the noisy score of a candidate by the number of its bits and the bits. *)
  Context (bound : nat -> Z -> Z -> option Q * option Q).
  (** How many bits are read at first, how often they can be doubled, and the candidates. *)
  Context (initial : Z) (depth n k : nat).
  Hypothesis initial_pos : (0 < initial)%Z.

  Definition bits (j : nat) : Z := (initial * 2 ^ Z.of_nat j)%Z.

  (** What a candidate's bits tell, [bits depth] of them being given as a number. *)
  Definition look (words : list Z) (i j : nat) : known :=
    let ends := bound i (bits j) (nth i words 0%Z / 2 ^ (bits depth - bits j))%Z in
    Known i j (fst ends) (snd ends).

  (** The k candidates that are drawn, the largest first. *)
  Definition drawn (words : list Z) : option (list nat) := draw (look words) depth n k.

  (** The noisy score of a candidate by its uniform number. *)
  Context (f : nat -> R -> R).
  Hypothesis bound_holds : forall i b w u,
    (0 < b)%Z -> 0 < u < 1 -> begins u w b ->
    (forall l, fst (bound i b w) = Some l -> Q2R l <= f i u)
    /\ (forall h, snd (bound i b w) = Some h -> f i u <= Q2R h).

  Definition total_bits : Z := bits depth.
  Definition top : nat := Z.to_nat (2 ^ total_bits).
  Definition N : R := IZR (2 ^ total_bits).

  Lemma bits_pos j : (0 < bits j)%Z.
  Proof. unfold bits. apply Z.mul_pos_pos; [assumption|]. apply Z.pow_pos_nonneg; lia. Qed.

  Lemma bits_le i j : (i <= j)%nat -> (bits i <= bits j)%Z.
  Proof.
    intros H. unfold bits. apply Z.mul_le_mono_nonneg_l; [lia|]. apply Z.pow_le_mono_r; lia.
  Qed.

  Lemma N_pos : 0 < N.
  Proof. apply IZR_lt. apply Z.pow_pos_nonneg; [lia|]. pose proof (bits_pos depth). unfold total_bits. lia. Qed.

  Lemma top_is_N : INR top = N.
  Proof.
    unfold top, N. rewrite INR_IZR_INZ, Z2Nat.id; [reflexivity|].
    apply Z.pow_nonneg. lia.
  Qed.

  Lemma top_pos : (0 < top)%nat.
  Proof. apply INR_lt. rewrite top_is_N. apply N_pos. Qed.

  (** A number inside of the part of [0, 1] that begins with x. *)
  Definition inside (x : nat) (u : R) : Prop := INR x < u * N < INR x + 1.

  Lemma inside_unit x u : (x < top)%nat -> inside x u -> 0 < u < 1.
  Proof.
    intros X [L H]. pose proof N_pos. pose proof (pos_INR x).
    apply (le_INR (S x)) in X. rewrite top_is_N, S_INR in X. split.
    - apply Rmult_lt_reg_r with N; [assumption|]. lra.
    - apply Rmult_lt_reg_r with N; [assumption|]. lra.
  Qed.

  Lemma prefix_begins x u j :
    inside x u -> (j <= depth)%nat ->
    begins u (Z.of_nat x / 2 ^ (bits depth - bits j))%Z (bits j).
  Proof.
    intros [L H] J. apply bits_le in J. pose proof (bits_pos j) as B.
    set (d := (bits depth - bits j)%Z) in *.
    assert (P : (0 < 2 ^ d)%Z) by (apply Z.pow_pos_nonneg; lia).
    assert (E : N = IZR (2 ^ bits j) * IZR (2 ^ d)).
    { unfold N, total_bits. rewrite <- mult_IZR, <- Z.pow_add_r by lia. f_equal. f_equal. lia. }
    pose proof (Z.div_mod (Z.of_nat x) (2 ^ d) ltac:(lia)) as D.
    pose proof (Z.mod_pos_bound (Z.of_nat x) (2 ^ d) P) as M.
    rewrite INR_IZR_INZ in L, H. rewrite E in L, H. unfold begins.
    set (q := (Z.of_nat x / 2 ^ d)%Z) in *.
    assert (P' : 0 < IZR (2 ^ d)) by (apply IZR_lt; assumption).
    assert (lower : IZR q * IZR (2 ^ d) <= IZR (Z.of_nat x)).
    { rewrite <- mult_IZR. apply IZR_le. nia. }
    assert (upper : IZR (Z.of_nat x) + 1 <= (IZR q + 1) * IZR (2 ^ d)).
    { rewrite <- !plus_IZR, <- mult_IZR. apply IZR_le. nia. }
    split.
    - apply Rmult_le_reg_r with (IZR (2 ^ d)); [assumption|]. lra.
    - apply Rmult_lt_reg_r with (IZR (2 ^ d)); [assumption|]. lra.
  Qed.

  Lemma look_holds all u i j :
    within top n all -> (forall i, inside (nth i all 0%nat) (u i)) -> (j <= depth)%nat ->
    holds (fun i => f i (u i)) (look (map Z.of_nat all) i j).
  Proof.
    intros [_ W] U J. unfold look. change 0%Z with (Z.of_nat 0).
    rewrite (map_nth Z.of_nat all 0%nat). apply (bound_holds i (bits j) _ (u i)).
    - apply bits_pos.
    - apply (inside_unit (nth i all 0%nat)); auto.
    - apply prefix_begins; auto.
  Qed.

  (** What is drawn are the k largest noisy scores, in order, whatever the unread bits are. *)
  Definition draws_largest : Prop := forall all u l,
    within top n all -> (forall i, inside (nth i all 0%nat) (u i)) ->
    drawn (map Z.of_nat all) = Some l ->
    length l = Nat.min k n /\ NoDup l
    /\ StronglySorted (larger (fun i => f i (u i))) l
    /\ (forall i, In i l -> (i < n)%nat)
    /\ (forall i j, In i l -> (j < n)%nat -> ~ In j l -> f j (u j) < f i (u i)).

  Theorem drawn_are_largest : draws_largest.
  Proof.
    intros all u l W U D.
    exact (draw_is_right (look (map Z.of_nat all)) depth (fun i => f i (u i))
             (fun i j => eq_refl) (fun i j J => look_holds all u i j W U J) n k l D).
  Qed.

  (** Candidate j is below r, whose number is z, only if its number is at least [T r j z]. *)
  Context (T : nat -> nat -> R -> R).
  Hypothesis T_range : forall r j z, 0 < z < 1 -> 0 <= T r j z <= 1.
  Hypothesis T_below : forall r j z u,
    (r < n)%nat -> (j < n)%nat -> 0 < z < 1 -> 0 < u < 1 -> f j u <= f r z -> T r j z <= u.

  Definition others (r : nat) : list nat := filter (fun j => negb (Nat.eqb j r)) (seq 0 n).

  (** That all others are below r. *)
  Definition F (r : nat) (z : R) : R := prod (fun j => 1 - T r j z) (others r).

  (** Its integral up to a number. *)
  Context (G : nat -> R -> R).
  Hypothesis G_integral : forall r a b K,
    (r < n)%nat -> 0 <= a -> a < b -> b <= 1 ->
    (forall z, a < z < b -> K <= F r z) -> K * (b - a) <= G r b - G r a.

  Definition chance (r : nat) : R := G r 1 - G r 0.

  Lemma middle x : inside x ((INR x + / 2) / N).
  Proof.
    pose proof N_pos. unfold inside. replace ((INR x + / 2) / N * N) with (INR x + / 2);
      [lra|field; lra].
  Qed.

  Lemma decided_beyond all r j z :
    within top n all -> (r < n)%nat -> (j < n)%nat -> j <> r ->
    (forall u, (forall i, inside (nth i all 0%nat) (u i)) -> f j (u j) < f r (u r)) ->
    inside (nth r all 0%nat) z -> N * T r j z <= INR (nth j all 0%nat).
  Proof.
    intros W R J J' L Z. pose proof N_pos as P.
    destruct (Rle_lt_dec (N * T r j z) (INR (nth j all 0%nat))) as [H|H]; [assumption|exfalso].
    set (x := INR (nth j all 0%nat)) in *.
    set (w := (x + Rmin (N * T r j z) (x + 1)) / 2 / N).
    assert (w1 : w * N = (x + Rmin (N * T r j z) (x + 1)) / 2) by (unfold w; field; lra).
    assert (w2 : x < w * N < x + 1).
    { rewrite w1. unfold Rmin. destruct (Rle_dec (N * T r j z) (x + 1)); lra. }
    assert (w3 : w * N < N * T r j z).
    { rewrite w1. unfold Rmin. destruct (Rle_dec (N * T r j z) (x + 1)); lra. }
    pose (u := fun i => if Nat.eqb i r then z
                        else if Nat.eqb i j then w else (INR (nth i all 0%nat) + / 2) / N).
    assert (U : forall i, inside (nth i all 0%nat) (u i)).
    { intros i. unfold u. destruct (Nat.eqb_spec i r) as [->|]; [assumption|].
      destruct (Nat.eqb_spec i j) as [->|]; [exact w2|apply middle]. }
    specialize (L u U). unfold u in L. rewrite Nat.eqb_refl in L.
    destruct (Nat.eqb_spec j r) as [|_]; [contradiction|]. rewrite Nat.eqb_refl in L.
    destruct W as [_ W].
    assert (B : T r j z <= w).
    { apply T_below; auto; [| |lra].
      - apply (inside_unit (nth r all 0%nat)); auto.
      - apply (inside_unit (nth j all 0%nat)); [apply W|exact w2]. }
    apply (Rmult_le_compat_l N) in B; lra.
  Qed.

  Definition first_drawn (r : nat) (all : list nat) : bool :=
    match drawn (map Z.of_nat all) with
    | Some (i :: _) => Nat.eqb i r
    | _ => false
    end.

  (** What is drawn first is the largest, whatever the bits are that were not read. *)
  Lemma first_is_largest all u r j :
    within top n all -> (forall i, inside (nth i all 0%nat) (u i)) ->
    first_drawn r all = true -> (j < n)%nat -> j <> r -> f j (u j) < f r (u r).
  Proof.
    intros W U D J D'. unfold first_drawn in D.
    destruct (drawn (map Z.of_nat all)) as [[|i l]|] eqn:E; try discriminate.
    apply Nat.eqb_eq in D. subst i.
    destruct (drawn_are_largest all u _ W U E) as [_ [_ [S [I O]]]].
    destruct (in_dec Nat.eq_dec j (r :: l)) as [M|M].
    - destruct M as [->|M]; [contradiction|]. inversion S as [|? ? _ F]. subst.
      rewrite Forall_forall in F. apply F. assumption.
    - apply O; [left; reflexivity|assumption|assumption].
  Qed.

  (** Of all strings of bits at most the share [chance r] draws r first. *)
  Theorem no_candidate_is_too_likely r :
    (r < n)%nat -> tuples top n (first_drawn r) <= N ^ n * chance r.
  Proof.
    intros Hr. pose proof N_pos as P. set (test := first_drawn r).
    set (at_ := fun x all => test all && Nat.eqb (nth r all 0%nat) x).
    assert (one : forall x z, (x < top)%nat -> inside x z ->
              tuples top n (at_ x) <= N ^ length (others r) * F r z).
    { intros x z X Z. assert (Z1 : 0 < z < 1) by (apply (inside_unit x); assumption).
      pose (a := fun j y => if Nat.eqb j r then Nat.eqb y x
                            else if Rle_dec (N * T r j z) (INR y) then true else false).
      apply Rle_trans with (tuples top n (each a 0)).
      - apply tuples_le; [apply top_pos|]. intros l W H. unfold at_ in H.
        apply andb_true_iff in H. destruct H as [H1 H2]. apply Nat.eqb_eq in H2.
        apply each_holds. intros j J. cbn [Nat.add]. unfold a.
        destruct (Nat.eqb_spec j r) as [->|J']; [apply Nat.eqb_eq; assumption|].
        destruct (Rle_dec (N * T r j z) (INR (nth j l 0%nat))) as [|O]; [reflexivity|exfalso].
        destruct W as [W W'].
        apply O. apply (decided_beyond l r j z); auto; [split; assumption|lia| |].
        + intros u U. apply (first_is_largest l u); auto; [split; assumption|lia].
        + rewrite H2. assumption.
      - apply Rle_trans with (prod (fun j => if Nat.eqb j r then 1 else N * (1 - T r j z)) (seq 0 n)).
        + apply tuples_each; [apply top_pos|]. intros j _. unfold a.
          destruct (Nat.eqb j r).
          * replace 1 with (INR x + 1 - INR x) by ring.
            assert (INR x + 1 <= INR top) by (rewrite <- S_INR; apply le_INR; lia).
            pose proof (pos_INR x).
            apply number_nat_within; [lra|assumption|].
            intros y _ E. apply Nat.eqb_eq in E. subst y. lra.
          * destruct (T_range r j z Z1).
            replace (N * (1 - T r j z)) with (N - N * T r j z) by ring.
            apply number_nat_within; [nra|rewrite top_is_N; lra|].
            intros y Y E. split.
            -- destruct (Rle_dec (N * T r j z) (INR y)); [assumption|discriminate].
            -- rewrite <- S_INR, <- top_is_N. apply le_INR. lia.
        + right. rewrite prod_one_out. apply prod_scale. }
    assert (split : tuples top n test <= sum_to (fun x => tuples top n (at_ x)) top).
    { apply tuples_any; [|apply top_pos]. intros l [L W] H. exists (nth r l 0%nat).
      split; [apply W|]. unfold at_. rewrite H, Nat.eqb_refl. reflexivity. }
    apply Rle_trans with (1 := split).
    set (M := N ^ length (others r)). assert (M0 : 0 < M) by (apply pow_lt; assumption).
    assert (step : forall m, (m <= top)%nat ->
              sum_to (fun x => tuples top n (at_ x)) m <= M * N * (G r (INR m / N) - G r 0)).
    { induction m as [|m IH]; intros Hm.
      - simpl. unfold Rdiv. rewrite Rmult_0_l. lra.
      - cbn [sum_to]. specialize (IH ltac:(lia)).
        set (K := tuples top n (at_ m) / M).
        assert (K1 : K * M = tuples top n (at_ m)) by (unfold K; field; lra).
        assert (D : K * (INR (S m) / N - INR m / N) <= G r (INR (S m) / N) - G r (INR m / N)).
        { apply G_integral; [assumption| | | |].
          - unfold Rdiv. apply Rmult_le_pos; [apply pos_INR|]. left. apply Rinv_0_lt_compat, P.
          - unfold Rdiv. apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat, P|].
            apply lt_INR. lia.
          - apply Rmult_le_reg_r with N; [assumption|].
            replace (INR (S m) / N * N) with (INR (S m)) by (field; lra).
            rewrite <- top_is_N, Rmult_1_l. apply le_INR. lia.
          - intros z [Z1 Z2].
            apply (Rmult_lt_compat_r N) in Z1; [|assumption].
            apply (Rmult_lt_compat_r N) in Z2; [|assumption].
            replace (INR m / N * N) with (INR m) in Z1 by (field; lra).
            replace (INR (S m) / N * N) with (INR (S m)) in Z2 by (field; lra).
            rewrite S_INR in Z2.
            specialize (one m z ltac:(lia) (conj Z1 Z2)). fold M in one.
            apply Rmult_le_reg_r with M; [assumption|]. lra. }
        replace (INR (S m) / N - INR m / N) with (/ N) in D
          by (rewrite S_INR; field; lra).
        apply (Rmult_le_compat_l (M * N)) in D; [|nra].
        replace (M * N * (K * / N)) with (K * M) in D by (field; lra). lra. }
    apply Rle_trans with (1 := step top (le_n _)). rewrite top_is_N.
    replace (N / N) with 1 by (field; lra). right. unfold chance. f_equal.
    unfold M. rewrite Rmult_comm, tech_pow_Rmult. f_equal. apply length_without. assumption.
  Qed.
End Distribution.

Print Assumptions drawn_are_largest.
Print Assumptions no_candidate_is_too_likely.
