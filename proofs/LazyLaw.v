(** The law of the draw by noise that is compared bit by bit: of all strings of bits no larger
    share draws a candidate than its probability. *)

Require Import Reals ZArith QArith Qreals List Lra Lia Bool Sorting.Sorted Permutation.
Require Import Inversion LazyNoise.
Import ListNotations.
Open Scope R_scope.

(** ** Numbers of strings of bits *)

Fixpoint sum_to (g : nat -> R) (m : nat) : R :=
  match m with
  | O => 0
  | S m => sum_to g m + g m
  end.

Fixpoint prod (c : nat -> R) (l : list nat) : R :=
  match l with
  | [] => 1
  | j :: l => c j * prod c l
  end.

(** How many lists of n numbers below [top] satisfy a test. *)
Fixpoint tuples (top n : nat) (test : list nat -> bool) : R :=
  match n with
  | O => if test [] then 1 else 0
  | S n => sum_to (fun x => tuples top n (fun l => test (x :: l))) top
  end.

Lemma sum_to_le f g m : (forall x, (x < m)%nat -> f x <= g x) -> sum_to f m <= sum_to g m.
Proof.
  induction m as [|m IH]; intros H; cbn [sum_to]; [lra|].
  specialize (H m (Nat.lt_succ_diag_r m)) as Hm.
  assert (sum_to f m <= sum_to g m) by (apply IH; intros; apply H; lia). lra.
Qed.

Lemma sum_to_scale k f m : sum_to (fun x => k * f x) m = k * sum_to f m.
Proof. induction m as [|m IH]; cbn [sum_to]; [|rewrite IH]; ring. Qed.

Lemma sum_to_plus f g m : sum_to (fun x => f x + g x) m = sum_to f m + sum_to g m.
Proof. induction m as [|m IH]; cbn [sum_to]; [|rewrite IH]; ring. Qed.

Lemma sum_to_const k m : sum_to (fun _ => k) m = INR m * k.
Proof. induction m as [|m IH]; [simpl; ring|]. cbn [sum_to]. rewrite IH, S_INR. ring. Qed.

Lemma sum_to_swap (f : nat -> nat -> R) a b :
  sum_to (fun x => sum_to (f x) b) a = sum_to (fun y => sum_to (fun x => f x y) a) b.
Proof.
  induction a as [|a IH]; cbn [sum_to].
  - rewrite sum_to_const. ring.
  - rewrite IH, <- sum_to_plus. reflexivity.
Qed.

Lemma sum_to_number (test : nat -> bool) top :
  sum_to (fun x => if test x then 1 else 0) top = INR (number test top).
Proof.
  induction top as [|top IH]; [reflexivity|]. cbn [sum_to number]. rewrite IH, plus_INR.
  destruct (test top); reflexivity.
Qed.

Lemma sum_to_nonneg f m : (forall x, 0 <= f x) -> 0 <= sum_to f m.
Proof. intros H. induction m as [|m IH]; cbn [sum_to]; [lra|]. specialize (H m). lra. Qed.

Lemma tuples_nonneg top n test : 0 <= tuples top n test.
Proof.
  revert test. induction n as [|n IH]; intros test; cbn [tuples].
  - destruct (test []); lra.
  - apply sum_to_nonneg. intros x. apply IH.
Qed.

(** All numbers of a list are below [top], and it has n of them. *)
Definition within (top n : nat) (l : list nat) : Prop :=
  length l = n /\ forall i, (nth i l 0 < top)%nat.

Lemma within_cons top n x l : (x < top)%nat -> within top n l -> within top (S n) (x :: l).
Proof.
  intros X [L H]. split; [simpl; lia|]. intros [|i]; [assumption|]. apply H.
Qed.

(** What satisfies a test satisfies one of several others. *)
Lemma tuples_any top n test (others : nat -> list nat -> bool) m :
  (forall l, within top n l -> test l = true -> exists j, (j < m)%nat /\ others j l = true) ->
  (0 < top)%nat ->
  tuples top n test <= sum_to (fun j => tuples top n (others j)) m.
Proof.
  intros H T. revert test others H. induction n as [|n IH]; intros test others H; cbn [tuples].
  - destruct (test []) eqn:E.
    + assert (W : within top 0 []) by (split; [reflexivity|intros []; exact T]).
      destruct (H [] W E) as [j [J O]].
      apply Rle_trans with (sum_to (fun i => if Nat.eqb i j then 1 else 0) m).
      * clear - J. induction m as [|m IH]; [lia|]. cbn [sum_to].
        destruct (Nat.eq_dec j m) as [->|D].
        -- rewrite Nat.eqb_refl.
           assert (0 <= sum_to (fun i => if Nat.eqb i m then 1 else 0) m).
           { apply sum_to_nonneg. intros x. destruct (Nat.eqb x m); lra. }
           lra.
        -- specialize (IH ltac:(lia)). destruct (Nat.eqb m j); lra.
      * apply sum_to_le. intros i _. destruct (Nat.eqb_spec i j) as [->|]; [rewrite O; lra|].
        destruct (others i []); lra.
    + apply sum_to_nonneg. intros x. destruct (others x []); lra.
  - rewrite <- sum_to_swap. apply sum_to_le. intros x X.
    apply (IH (fun l => test (x :: l)) (fun j l => others j (x :: l))).
    intros l L. apply H. apply within_cons; assumption.
Qed.

Lemma tuples_le top n test other :
  (0 < top)%nat -> (forall l, within top n l -> test l = true -> other l = true) ->
  tuples top n test <= tuples top n other.
Proof.
  intros T H. pose proof (tuples_any top n test (fun _ => other) 1) as A. cbn [sum_to] in A.
  rewrite Rplus_0_l in A. apply A; [|assumption]. intros l L E. exists O. split; [lia|auto].
Qed.

(** A test of each number of a list. *)
Fixpoint each (a : nat -> nat -> bool) (i : nat) (l : list nat) : bool :=
  match l with
  | [] => true
  | x :: l => a i x && each a (S i) l
  end.

Lemma each_holds a i l :
  (forall j, (j < length l)%nat -> a (i + j)%nat (nth j l 0%nat) = true) -> each a i l = true.
Proof.
  revert i. induction l as [|x l IH]; intros i H; [reflexivity|]. cbn [each].
  apply andb_true_iff. split.
  - specialize (H O). rewrite Nat.add_0_r in H. apply H. simpl. lia.
  - apply IH. intros j J. specialize (H (S j)). rewrite Nat.add_succ_r in H.
    apply H. simpl. lia.
Qed.

Lemma prod_nonneg c l : (forall j, In j l -> 0 <= c j) -> 0 <= prod c l.
Proof.
  induction l as [|j l IH]; cbn [prod]; intros H; [lra|].
  apply Rmult_le_pos; [apply H; left; reflexivity|]. apply IH. intros. apply H. right. assumption.
Qed.

Lemma tuples_each top n a i c :
  (0 < top)%nat ->
  (forall j, (i <= j < i + n)%nat -> INR (number (a j) top) <= c j) ->
  tuples top n (each a i) <= prod c (seq i n).
Proof.
  intros T. revert i. induction n as [|n IH]; intros i H; [simpl; lra|]. cbn [tuples seq prod].
  assert (P : forall j, (i <= j < i + S n)%nat -> 0 <= c j).
  { intros j J. apply Rle_trans with (INR (number (a j) top)); [apply pos_INR|apply H; assumption]. }
  assert (Q : 0 <= prod c (seq (S i) n)).
  { apply prod_nonneg. intros j J. apply in_seq in J. apply P. lia. }
  apply Rle_trans with (sum_to (fun x => (if a i x then 1 else 0) * prod c (seq (S i) n)) top).
  - apply sum_to_le. intros x X. cbn [each].
    destruct (a i x); cbn [andb].
    + rewrite Rmult_1_l. apply IH. intros. apply H. lia.
    + rewrite Rmult_0_l. clear. induction n as [|n IH]; [simpl; lra|]. cbn [tuples].
      apply Rle_trans with (sum_to (fun _ => 0) top).
      * apply sum_to_le. intros _ _. exact IH.
      * rewrite sum_to_const. lra.
  - apply Rle_trans with (prod c (seq (S i) n) * sum_to (fun x => if a i x then 1 else 0) top).
    + rewrite <- sum_to_scale. apply sum_to_le. intros. right. ring.
    + rewrite Rmult_comm. apply Rmult_le_compat_r; [assumption|]. rewrite sum_to_number.
      apply H. lia.
Qed.

Lemma tuples_all top n : tuples top n (fun _ => true) = INR top ^ n.
Proof.
  induction n as [|n IH]; [reflexivity|]. cbn [tuples pow]. rewrite <- IH. apply sum_to_const.
Qed.

Lemma prod_ext c d l : (forall j, In j l -> c j = d j) -> prod c l = prod d l.
Proof.
  induction l as [|j l IH]; cbn [prod]; intros H; [reflexivity|].
  rewrite (H j) by (left; reflexivity). f_equal. apply IH. intros. apply H. right. assumption.
Qed.

Lemma prod_one_out c r l :
  prod (fun j => if Nat.eqb j r then 1 else c j) l
  = prod c (filter (fun j => negb (Nat.eqb j r)) l).
Proof.
  induction l as [|j l IH]; cbn [prod filter]; [reflexivity|]. rewrite IH.
  destruct (Nat.eqb j r); cbn [negb prod]; ring.
Qed.

Lemma prod_scale k c l : prod (fun j => k * c j) l = k ^ length l * prod c l.
Proof. induction l as [|j l IH]; cbn [prod length pow]; [|rewrite IH]; ring. Qed.

Lemma prod_changed c i k l :
  NoDup l -> In i l ->
  prod (fun j => if Nat.eqb j i then k else c j) l * c i = k * prod c l.
Proof.
  induction l as [|j l IH]; intros N I; [destruct I|]. cbn [prod].
  inversion N as [|? ? Nj N']. subst. destruct I as [->|I].
  - rewrite Nat.eqb_refl.
    rewrite (prod_ext (fun j => if Nat.eqb j i then k else c j) c); [ring|].
    intros j J. destruct (Nat.eqb_spec j i) as [->|]; [contradiction|reflexivity].
  - destruct (Nat.eqb_spec j i) as [->|]; [contradiction|]. rewrite Rmult_assoc, IH by assumption.
    ring.
Qed.

Lemma length_without r n :
  (r < n)%nat -> S (length (filter (fun j => negb (Nat.eqb j r)) (seq 0 n))) = n.
Proof.
  intros H.
  assert (G : forall i m, length (filter (fun j => negb (Nat.eqb j r)) (seq i m))
                          = (m - if (i <=? r) && (r <? i + m) then 1 else 0)%nat).
  { intros i m. revert i. induction m as [|m IH]; intros i; [reflexivity|]. cbn [seq filter].
    destruct (Nat.eqb_spec i r) as [->|D]; cbn [negb length]; rewrite IH.
    - destruct (Nat.leb_spec (S r) r), (Nat.leb_spec r r), (Nat.ltb_spec r (S r + m)),
        (Nat.ltb_spec r (r + S m)); cbn [andb]; lia.
    - destruct (Nat.leb_spec (S i) r), (Nat.leb_spec i r), (Nat.ltb_spec r (S i + m)),
        (Nat.ltb_spec r (i + S m)); cbn [andb]; lia. }
  rewrite G. destruct (Nat.leb_spec 0 r), (Nat.ltb_spec r (0 + n)); cbn [andb]; lia.
Qed.

Lemma number_nat_within test top a c :
  0 <= a <= c -> c <= INR top ->
  (forall x, (x < top)%nat -> test x = true -> a <= INR x /\ INR x + 1 <= c) ->
  INR (number test top) <= c - a.
Proof.
  intros AC C H. apply Rle_trans with (Rmax 0 (Rmin (INR top) c - a)).
  - apply number_within; [lra|assumption].
  - rewrite Rmin_right by assumption. apply Rmax_lub; lra.
Qed.

(** ** The law *)

Section Law.
  (** Bounds of the noisy score of a candidate by the number of its bits and the bits. *)
  Context (bound : nat -> Z -> Z -> option Q * option Q).
  (** How many bits are read at first, how often they can be doubled, and the candidates. *)
  Context (initial : Z) (depth n k : nat).
  Hypothesis initial_pos : (0 < initial)%Z.

  Definition bits (j : nat) : Z := (initial * 2 ^ Z.of_nat j)%Z.

  (** What a candidate's bits tell, whose numbers are in [all] with [bits depth] bits each. *)
  Definition look (all : list nat) (i j : nat) : known :=
    let ends := bound i (bits j) (Z.of_nat (nth i all 0%nat) / 2 ^ (bits depth - bits j))%Z in
    Known i j (fst ends) (snd ends).

  Definition first_drawn (all : list nat) : option nat :=
    match draw (look all) depth n k with
    | Some (i :: _) => Some i
    | _ => None
    end.

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
    holds (fun i => f i (u i)) (look all i j).
  Proof.
    intros [_ W] U J. apply (bound_holds i (bits j) _ (u i)).
    - apply bits_pos.
    - apply (inside_unit (nth i all 0%nat)); auto.
    - apply prefix_begins; auto.
  Qed.

  (** What is drawn first is the largest, whatever the bits are that were not read. *)
  Theorem first_is_largest all u r :
    within top n all -> (forall i, inside (nth i all 0%nat) (u i)) -> first_drawn all = Some r ->
    (r < n)%nat /\ forall j, (j < n)%nat -> j <> r -> f j (u j) < f r (u r).
  Proof.
    intros W U D. unfold first_drawn in D.
    destruct (draw (look all) depth n k) as [[|i l]|] eqn:E; try discriminate.
    injection D as ->.
    destruct (draw_is_right (look all) depth (fun i => f i (u i)) (fun i j => eq_refl)
                (fun i j J => look_holds all u i j W U J) n k _ E)
      as [_ [_ [S [I O]]]].
    split; [apply I; left; reflexivity|]. intros j J D.
    destruct (in_dec Nat.eq_dec j (r :: l)) as [M|M].
    - destruct M as [->|M]; [contradiction|]. inversion S as [|? ? _ F]. subst.
      rewrite Forall_forall in F. apply F. assumption.
    - apply O; [left; reflexivity|assumption|assumption].
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

  Definition law (r : nat) : R := G r 1 - G r 0.

  Lemma middle x : inside x ((INR x + / 2) / N).
  Proof.
    pose proof N_pos. unfold inside. replace ((INR x + / 2) / N * N) with (INR x + / 2);
      [lra|field; lra].
  Qed.

  Lemma decided_beyond all r j z :
    within top n all -> first_drawn all = Some r -> (j < n)%nat -> j <> r ->
    inside (nth r all 0%nat) z -> N * T r j z <= INR (nth j all 0%nat).
  Proof.
    intros W D J J' Z. pose proof N_pos as P.
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
    destruct (first_is_largest all u r W U D) as [R L]. specialize (L j J J').
    unfold u in L. rewrite Nat.eqb_refl in L.
    destruct (Nat.eqb_spec j r) as [|_]; [contradiction|]. rewrite Nat.eqb_refl in L.
    destruct W as [_ W].
    assert (B : T r j z <= w).
    { apply T_below; auto; [| |lra].
      - apply (inside_unit (nth r all 0%nat)); auto.
      - apply (inside_unit (nth j all 0%nat)); [apply W|exact w2]. }
    apply (Rmult_le_compat_l N) in B; lra.
  Qed.

  Definition draws (r : nat) (all : list nat) : bool :=
    match first_drawn all with
    | Some i => Nat.eqb i r
    | None => false
    end.

  (** Of all strings of bits at most the share [law r] draws r first. *)
  Theorem no_candidate_is_too_likely r :
    (r < n)%nat -> tuples top n (draws r) <= N ^ n * law r.
  Proof.
    intros Hr. pose proof N_pos as P. set (test := draws r).
    set (at_ := fun x all => test all && Nat.eqb (nth r all 0%nat) x).
    assert (one : forall x z, (x < top)%nat -> inside x z ->
              tuples top n (at_ x) <= N ^ length (others r) * F r z).
    { intros x z X Z. assert (Z1 : 0 < z < 1) by (apply (inside_unit x); assumption).
      pose (a := fun j y => if Nat.eqb j r then Nat.eqb y x
                            else if Rle_dec (N * T r j z) (INR y) then true else false).
      apply Rle_trans with (tuples top n (each a 0)).
      - apply tuples_le; [apply top_pos|]. intros l W H. unfold at_, test, draws in H.
        apply andb_true_iff in H. destruct H as [H1 H2]. apply Nat.eqb_eq in H2.
        destruct (first_drawn l) as [i|] eqn:D; [|discriminate]. apply Nat.eqb_eq in H1. subst i.
        apply each_holds. intros j J. cbn [Nat.add]. unfold a.
        destruct (Nat.eqb_spec j r) as [->|J']; [apply Nat.eqb_eq; assumption|].
        destruct (Rle_dec (N * T r j z) (INR (nth j l 0%nat))) as [|O]; [reflexivity|exfalso].
        apply O. apply (decided_beyond l r j z); auto.
        + destruct W as [W _]. lia.
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
    replace (N / N) with 1 by (field; lra). right. unfold law. f_equal.
    unfold M. rewrite Rmult_comm, tech_pow_Rmult. f_equal. apply length_without. assumption.
  Qed.
End Law.

Print Assumptions first_is_largest.
Print Assumptions no_candidate_is_too_likely.
