(** How many strings of bits satisfy a test: numbers below a bound, one for each candidate. *)

Require Import Reals ZArith List Lra Lia Bool Permutation.
Require FunctionalExtensionality.
Require Import Inversion.
Import ListNotations.
Open Scope R_scope.

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

(** ** In any order of the candidates *)

Section Count.
  Context (top : nat).

  Definition put (a : nat -> nat) (i x : nat) : nat -> nat :=
    fun j => if Nat.eqb j i then x else a j.

  (** How many ways to choose numbers below [top] for the candidates of a list satisfy a test. *)
  Fixpoint count (l : list nat) (test : (nat -> nat) -> bool) (a : nat -> nat) : R :=
    match l with
    | [] => if test a then 1 else 0
    | i :: l => sum_to (fun x => count l test (put a i x)) top
    end.

  Lemma sum_to_ext f g m : (forall x, (x < m)%nat -> f x = g x) -> sum_to f m = sum_to g m.
  Proof.
    intros H. apply Rle_antisym; apply sum_to_le; intros x X; rewrite (H x X); apply Rle_refl.
  Qed.

  Lemma put_put a i j x y : i <> j -> put (put a i x) j y = put (put a j y) i x.
  Proof.
    intros D. apply FunctionalExtensionality.functional_extensionality. intros m. unfold put.
    destruct (Nat.eqb_spec m j), (Nat.eqb_spec m i); congruence.
  Qed.

  Lemma count_permuted l l' test a : Permutation l l' -> count l test a = count l' test a.
  Proof.
    intros P. revert a. induction P as [|i l l' P IH|i j l|l l1 l2 P1 IH1 P2 IH2]; intros a.
    - reflexivity.
    - cbn [count]. apply sum_to_ext. intros. apply IH.
    - destruct (Nat.eq_dec i j) as [->|D]; [reflexivity|]. cbn [count]. rewrite sum_to_swap.
      apply sum_to_ext. intros x _. apply sum_to_ext. intros y _. rewrite put_put; auto.
    - rewrite IH1. apply IH2.
  Qed.

  Lemma map_put a i x l : ~ In i l -> map (put a i x) l = map a l.
  Proof.
    intros H. apply map_ext_in. intros j J. unfold put.
    destruct (Nat.eqb_spec j i) as [->|]; [contradiction|reflexivity].
  Qed.

  Lemma tuples_counted n test a :
    tuples top n test = count (seq 0 n) (fun a => test (map a (seq 0 n))) a.
  Proof.
    assert (G : forall m i test a, tuples top m (fun l => test (map a (seq 0 i) ++ l))
                = count (seq i m) (fun a => test (map a (seq 0 (i + m)))) a).
    { clear. induction m as [|m IH]; intros i test a; cbn [tuples seq count].
      - rewrite Nat.add_0_r, app_nil_r. reflexivity.
      - apply sum_to_ext. intros x _. rewrite Nat.add_succ_r, <- Nat.add_succ_l.
        rewrite <- (IH (S i) test (put a i x)). f_equal.
        apply FunctionalExtensionality.functional_extensionality. intros l.
        rewrite seq_S, map_app, map_put by (rewrite in_seq; lia). cbn [Nat.add map].
        unfold put at 1. rewrite Nat.eqb_refl, <- app_assoc. reflexivity. }
    exact (G n O test a).
  Qed.

  (** Numbers that agree with [a] but for the candidates of a list. *)
  Definition chosen (l : list nat) (a a' : nat -> nat) : Prop :=
    (forall i, In i l -> (a' i < top)%nat) /\ (forall i, ~ In i l -> a' i = a i).

  Lemma chosen_put l i x a a' :
    ~ In i l -> (x < top)%nat -> chosen l (put a i x) a' -> chosen (i :: l) a a' /\ a' i = x.
  Proof.
    intros Ni X [R O]. assert (E : a' i = x).
    { rewrite O by assumption. unfold put. rewrite Nat.eqb_refl. reflexivity. }
    split; [split|exact E].
    - intros j [->|J]; [rewrite E; assumption|apply R; assumption].
    - intros j J. rewrite O by (intros I; apply J; right; assumption). unfold put.
      destruct (Nat.eqb_spec j i) as [->|]; [|reflexivity]. exfalso. apply J. left. reflexivity.
  Qed.

  Lemma count_none l test a :
    NoDup l -> (forall a', chosen l a a' -> test a' = true -> False) -> count l test a <= 0.
  Proof.
    revert a. induction l as [|i l IH]; intros a N H; cbn [count].
    - destruct (test a) eqn:E; [|lra]. exfalso. apply (H a); [|assumption].
      split; [intros i []|reflexivity].
    - inversion N as [|? ? Ni N']. subst.
      apply Rle_trans with (sum_to (fun _ => 0) top); [|rewrite sum_to_const; lra].
      apply sum_to_le. intros x X. apply IH; [assumption|]. intros a' C T.
      apply (H a'); [|assumption]. apply (chosen_put l i x a a'); assumption.
  Qed.

  (** Numbers that are all at least given ones. *)
  Lemma count_beyond l test a (y : nat -> R) :
    NoDup l -> (forall j, In j l -> 0 <= y j <= INR top) ->
    (forall a', chosen l a a' -> test a' = true -> forall j, In j l -> y j <= INR (a' j)) ->
    count l test a <= prod (fun j => INR top - y j) l.
  Proof.
    revert a. induction l as [|i l IH]; intros a N Y H; cbn [count prod].
    - destruct (test a); lra.
    - inversion N as [|? ? Ni N']. subst.
      set (P := prod (fun j => INR top - y j) l).
      assert (P0 : 0 <= P).
      { apply prod_nonneg. intros j J. destruct (Y j (or_intror J)). lra. }
      pose (ok := fun x => if Rle_dec (y i) (INR x) then true else false).
      apply Rle_trans with (sum_to (fun x => P * (if ok x then 1 else 0)) top).
      + apply sum_to_le. intros x X. unfold ok. destruct (Rle_dec (y i) (INR x)) as [L|L].
        * rewrite Rmult_1_r. apply IH; [assumption| |].
          -- intros j J. apply Y. right. assumption.
          -- intros a' C T j J. destruct (chosen_put l i x a a' Ni X C) as [C' _].
             apply (H a' C' T). right. assumption.
        * rewrite Rmult_0_r. apply count_none; [assumption|]. intros a' C T. apply L.
          destruct (chosen_put l i x a a' Ni X C) as [C' E]. rewrite <- E.
          apply (H a' C' T). left. reflexivity.
      + rewrite sum_to_scale, Rmult_comm. apply Rmult_le_compat_r; [assumption|].
        rewrite sum_to_number. destruct (Y i (or_introl eq_refl)).
        apply number_nat_within; [lra|lra|]. intros x X E. unfold ok in E.
        destruct (Rle_dec (y i) (INR x)); [|discriminate]. split; [assumption|].
        rewrite <- S_INR. apply le_INR. lia.
  Qed.
End Count.
