(** The closed form of the local sensitivity of percentile selection is admissible.

    A database is seen from one of its records, whose score is minus the distance of its value
    from the percentile. Order statistics are a sequence [X] on the integers, 0 before the first
    record and [upper] after the last, and [i] is the record's place. The percentile is at [k].

    A substitution takes the value at place [a] out and puts another one in, to place [b]. If that
    is not smaller ([a <= b]), those between move one place down; the other case is the mirror
    image. Among equal values a record may have any of their places: [ties_do_not_matter]. *)

Require Import Reals ZArith Lra Lia.
Require Classical_Prop FunctionalExtensionality.
Require Import LocalSensitivity.
Open Scope R_scope.

Section Percentile.
  Context (k : Z) (upper : R).

  Definition max4 (a b c d : R) : R := Rmax (Rmax a b) (Rmax c d).

  Lemma max4_lub a b c d x : a <= x -> b <= x -> c <= x -> d <= x -> max4 a b c d <= x.
  Proof. intros. unfold max4. repeat apply Rmax_lub; assumption. Qed.

  Lemma le_max4 x a b c d : ~ (a < x /\ b < x /\ c < x /\ d < x) -> x <= max4 a b c d.
  Proof.
    intros H. apply Rnot_lt_le. intros L. apply H. unfold max4 in L.
    pose proof (Rmax_l a b). pose proof (Rmax_r a b).
    pose proof (Rmax_l c d). pose proof (Rmax_r c d).
    pose proof (Rmax_l (Rmax a b) (Rmax c d)). pose proof (Rmax_r (Rmax a b) (Rmax c d)).
    lra.
  Qed.

  (** ** The closed form *)

  (** Of a record of value [s] before the percentile, far away. *)
  Definition far (X : Z -> R) (s : R) (t : Z) : R :=
    max4 (X (k + t - 1)%Z) (upper - X (k - t + 2)%Z) (X (k + t)%Z - s)
         (upper - X (k - t + 1)%Z - Rmax 0 (X (k - t)%Z - s)).

  Definition before (X : Z -> R) (s : R) (t : nat) : R :=
    match t with
    | O => max4 (X (k + 1)%Z - X k) (X k - s) s (upper - X (k + 1)%Z - X k + s)
    | S O => Rmax (X (k + 2)%Z - X k) (far X s 1)
    | _ => far X s (Z.of_nat t)
    end.

  (** Seen from the other end. *)
  Definition mirror (X : Z -> R) (j : Z) : R := upper - X (2 * k - j)%Z.

  Definition after (X : Z -> R) (s : R) (t : nat) : R := before (mirror X) (upper - s) t.

  (** Of the record at the percentile; [low] and [high] say if there are records at either side. *)
  Definition at_it (low high : bool) (X : Z -> R) (t : nat) : R :=
    match t with
    | O => max4 (X (k - 1)%Z) (upper - X (k + 1)%Z)
                (if low then X (k + 1)%Z - X k else 0) (if high then X k - X (k - 1)%Z else 0)
    | S O => Rmax (X (k + 1)%Z - X (k - 1)%Z) (before X (X k) 1)
    | _ => before X (X k) t
    end.

  Definition delta (low high : bool) (X : Z -> R) (i : Z) (t : nat) : R :=
    match (i ?= k)%Z with
    | Lt => before X (X i) t
    | Eq => at_it low high X t
    | Gt => after X (X i) t
    end.

  Definition score (X : Z -> R) (i : Z) : R := - Rabs (X k - X i).

  (** ** The terms, one by one *)

  Ltac places := unfold max4; repeat (first [reflexivity | lia | lra | f_equal]).

  Lemma far_next X s T :
    far X s (T + 1)
    = max4 (X (k + T)%Z) (upper - X (k - T + 1)%Z) (X (k + T + 1)%Z - s)
           (upper - X (k - T)%Z - Rmax 0 (X (k - T - 1)%Z - s)).
  Proof. unfold far. places. Qed.

  Lemma far_mirror X s T :
    far (mirror X) (upper - s) T
    = max4 (upper - X (k - T + 1)%Z) (X (k + T - 2)%Z) (s - X (k - T)%Z)
           (X (k + T - 1)%Z - Rmax 0 (s - X (k + T)%Z)).
  Proof.
    unfold far, mirror.
    replace (2 * k - (k + T - 1))%Z with (k - T + 1)%Z by lia.
    replace (2 * k - (k - T + 2))%Z with (k + T - 2)%Z by lia.
    replace (2 * k - (k + T))%Z with (k - T)%Z by lia.
    replace (2 * k - (k - T + 1))%Z with (k + T - 1)%Z by lia.
    replace (2 * k - (k - T))%Z with (k + T)%Z by lia.
    f_equal; [lra|lra|].
    replace (upper - X (k + T)%Z - (upper - s)) with (s - X (k + T)%Z) by lra. lra.
  Qed.

  Lemma far_mirror_next X s T :
    far (mirror X) (upper - s) (T + 1)
    = max4 (upper - X (k - T)%Z) (X (k + T - 1)%Z) (s - X (k - T - 1)%Z)
           (X (k + T)%Z - Rmax 0 (s - X (k + T + 1)%Z)).
  Proof. rewrite far_mirror. places. Qed.

  Lemma before_1 X s :
    before X s 1
    = Rmax (X (k + 2)%Z - X k)
           (max4 (X k) (upper - X (k + 1)%Z) (X (k + 1)%Z - s)
                 (upper - X k - Rmax 0 (X (k - 1)%Z - s))).
  Proof. unfold before, far. places. Qed.

  Lemma after_0 X s :
    after X s 0
    = max4 (X k - X (k - 1)%Z) (s - X k) (upper - s) (X (k - 1)%Z + X k - s).
  Proof.
    unfold after, before, mirror.
    replace (2 * k - (k + 1))%Z with (k - 1)%Z by lia.
    replace (2 * k - k)%Z with k by lia. f_equal; lra.
  Qed.

  Lemma after_1 X s :
    after X s 1
    = Rmax (X k - X (k - 2)%Z)
           (max4 (upper - X k) (X (k - 1)%Z) (s - X (k - 1)%Z)
                 (X k - Rmax 0 (s - X (k + 1)%Z))).
  Proof.
    unfold after, before. rewrite far_mirror. unfold mirror.
    replace (2 * k - (k + 2))%Z with (k - 2)%Z by lia.
    replace (2 * k - k)%Z with k by lia. places.
  Qed.

  Lemma from_2 (X : Z -> R) s t : before X s (S (S t)) = far X s (Z.of_nat (S (S t))).
  Proof. reflexivity. Qed.

  (** ** Databases and their neighbours *)

  Definition is_sorted (X : Z -> R) : Prop :=
    (forall j, 0 <= X j <= upper) /\ (forall i j, (i <= j)%Z -> X i <= X j).

  (** The value at [a] goes to [b >= a], and the record from [i] to [i']. *)
  Definition rises (low high : bool) (a b : Z) (X Y : Z -> R) (i i' : Z) : Prop :=
    (a <= b)%Z
    /\ ((a < k)%Z -> low = true) /\ ((k < b)%Z -> high = true)
    /\ (forall j, (j < a \/ b < j)%Z -> Y j = X j)
    /\ (forall j, (a <= j < b)%Z -> Y j = X (j + 1)%Z)
    /\ X b <= Y b <= X (b + 1)%Z
    /\ ((i = a /\ i' = b) \/ ((i < a \/ b < i)%Z /\ i' = i) \/ ((a < i <= b)%Z /\ i' = (i - 1)%Z)).

  (** ** A step from each side to each other, at every distance *)

  Lemma le_max5 x p a b c d :
    ~ (p < x /\ a < x /\ b < x /\ c < x /\ d < x) -> x <= Rmax p (max4 a b c d).
  Proof.
    intros H. apply Rnot_lt_le. intros L.
    pose proof (Rmax_l p (max4 a b c d)). pose proof (Rmax_r p (max4 a b c d)).
    apply H. split; [lra|]. apply Classical_Prop.NNPP. intros N. pose proof (le_max4 x a b c d N). lra.
  Qed.

  Ltac positive :=
    repeat match goal with
      | H : context [Rmax 0 ?y] |- _ => unfold Rmax in H; destruct (Rle_dec 0 y)
      | |- context [Rmax 0 ?y] => unfold Rmax; destruct (Rle_dec 0 y)
      end.

  Ltac compared :=
    repeat match goal with
      | |- max4 _ _ _ _ <= _ => apply max4_lub
      | |- Rmax _ (max4 _ _ _ _) <= _ => apply Rmax_lub
      | |- Rmax _ (Rmax _ _) <= _ => apply Rmax_lub
      | |- _ <= max4 _ _ _ _ => apply le_max4; intros [? [? [? ?]]]; positive; try lra
      | |- _ <= Rmax _ (max4 _ _ _ _) =>
          apply le_max5; intros [? [? [? [? ?]]]]; positive; try lra
      end.

  Section Steps.
    Context (low high : bool) (X Y : Z -> R) (s s' : R).
    Hypothesis X_sorted : is_sorted X.
    Hypothesis Y_sorted : is_sorted Y.
    Hypothesis rise : forall j, X j <= Y j <= X (j + 1)%Z.

    Lemma range j : 0 <= X j <= upper /\ 0 <= Y j <= upper.
    Proof. split; [apply X_sorted|apply Y_sorted]. Qed.

    Lemma order i j : (i <= j)%Z -> X i <= X j /\ Y i <= Y j.
    Proof. intros; split; [apply X_sorted|apply Y_sorted]; assumption. Qed.

    Lemma rise_to i j : (i < j)%Z -> Y i <= X j.
    Proof.
      intros L. destruct (rise i) as [_ H]. destruct (order (i + 1) j) as [M _]; [lia|]. lra.
    Qed.

    Ltac near_facts :=
      pose proof (rise k); pose proof (rise (k - 1)); pose proof (rise (k - 2));
      pose proof (rise (k + 1)); pose proof (rise (k + 2));
      pose proof (rise_to (k - 2) (k - 1) ltac:(lia));
      pose proof (rise_to (k - 1) k ltac:(lia)); pose proof (rise_to k (k + 1) ltac:(lia));
      pose proof (rise_to (k + 1) (k + 2) ltac:(lia));
      pose proof (order (k - 2) (k - 1) ltac:(lia)); pose proof (order (k - 1) k ltac:(lia));
      pose proof (order k (k + 1) ltac:(lia)); pose proof (order (k + 1) (k + 2) ltac:(lia));
      pose proof (range (k - 2)); pose proof (range (k - 1)); pose proof (range k);
      pose proof (range (k + 1)); pose proof (range (k + 2)).

    Ltac far_facts T :=
      pose proof (rise_to (k + T - 1) (k + T) ltac:(lia));
      pose proof (rise_to (k + T) (k + T + 1) ltac:(lia));
      pose proof (rise_to (k + T - 2) (k + T - 1) ltac:(lia));
      pose proof (rise (k - T + 1)); pose proof (rise (k - T + 2)); pose proof (rise (k - T));
      pose proof (rise (k + T - 1)); pose proof (rise (k + T)); pose proof (rise (k + T - 2));
      pose proof (order (k - T - 1) (k - T) ltac:(lia));
      pose proof (order (k - T) (k - T + 1) ltac:(lia));
      pose proof (order (k - T + 1) (k - T + 2) ltac:(lia));
      pose proof (order (k - T + 1) k ltac:(lia));
      pose proof (order k (k + T - 1) ltac:(lia));
      pose proof (order (k + T - 2) (k + T - 1) ltac:(lia));
      pose proof (order (k + T - 1) (k + T) ltac:(lia));
      pose proof (order (k + T) (k + T + 1) ltac:(lia));
      pose proof (range (k - T - 1)); pose proof (range (k - T)); pose proof (range (k - T + 1));
      pose proof (range (k + T - 1)); pose proof (range (k + T)); pose proof (range k);
      pose proof (range (k - T + 2)); pose proof (range (k + T - 2));
      pose proof (range (k + T + 1)).

    (** The last is used with [from_2], for distances from 1 on. *)
    Lemma next_of t : Z.of_nat (S t) = (Z.of_nat t + 1)%Z.
    Proof. lia. Qed.

    Lemma far_far T : (1 <= T)%Z -> s <= s' -> far Y s' T <= far X s (T + 1).
    Proof.
      intros P Le. rewrite far_next. unfold far. far_facts T. compared.
    Qed.

    Lemma before_before t :
      s <= s' -> s' <= X k \/ t <> O -> s' <= Y k -> before Y s' t <= before X s (S t).
    Proof.
      intros Le K L. destruct t as [|[|t]].
      - destruct K as [K|K]; [|tauto]. rewrite before_1. unfold before. near_facts. compared.
      - change (before X s 2) with (far X s (1 + 1)). unfold before. apply Rmax_lub.
        + rewrite far_next. near_facts. pose proof (order (k - 1 + 1) k ltac:(lia)).
          replace (k - 1 + 1)%Z with k by lia. compared.
        + apply far_far; [lia|assumption].
      - rewrite !from_2, (next_of (S (S t))). apply far_far; [lia|assumption].
    Qed.
    Lemma before_at t :
      s <= X k -> s' = Y k -> s <= s' -> Y (k - 1)%Z = X k -> Y (k + 1)%Z = X (k + 1)%Z ->
      at_it low high Y t <= before X s (S t).
    Proof.
      intros K E Le B A. destruct t as [|[|t]].
      - rewrite before_1. unfold at_it. near_facts. destruct low, high; compared.
      - unfold at_it. apply Rmax_lub.
        + change (before X s 2) with (far X s (1 + 1)). rewrite far_next. near_facts.
          replace (k - 1 + 1)%Z with k by lia. compared.
        + rewrite <- E. apply before_before; [assumption|right; discriminate|lra].
      - unfold at_it. rewrite <- E. apply before_before; [assumption|right; discriminate|lra].
    Qed.

    (** The value jumps over the percentile; [lower j] where it stood below place j. *)
    Lemma before_after t :
      s <= X k -> Y k = X (k + 1)%Z -> Y (k - 1)%Z = X k -> X (k + 1)%Z <= s' <= upper ->
      (forall j, (j < k)%Z -> X j <= s \/ Y j = X (j + 1)%Z) ->
      after Y s' t <= before X s (S t).
    Proof.
      intros K E B [L U] H. destruct t as [|[|t]].
      - rewrite before_1, after_0. near_facts. compared.
      - rewrite after_1. change (before X s 2) with (far X s (1 + 1)). rewrite far_next.
        near_facts. pose proof (rise (k + 1 - 2)). pose proof (H (k - 1)%Z ltac:(lia)) as [G|G];
          replace (k - 1 + 1)%Z with k in * by lia;
          pose proof (order (k - 1 - 1) (k - 1) ltac:(lia)); compared.
      - unfold after at 1. rewrite !from_2, (next_of (S (S t))). set (T := Z.of_nat (S (S t))).
        assert (2 <= T)%Z by lia. rewrite far_mirror, far_next. far_facts T.
        destruct (H (k - T)%Z ltac:(lia)) as [G|G]; compared.
    Qed.

    Lemma at_at t :
      s = X k -> s' = Y k -> at_it low high Y t <= at_it low high X (S t).
    Proof.
      intros E E'. destruct t as [|[|t]].
      - assert (P : forall x, x <= before X (X k) 1 -> x <= at_it low high X 1)
          by (intros x Q; apply Rle_trans with (1 := Q), Rmax_r).
        near_facts. unfold at_it at 1. rewrite before_1 in P. apply max4_lub.
        + apply P. compared.
        + apply P. compared.
        + destruct low; apply P; compared.
        + destruct high; [|apply P; compared].
          apply Rle_trans with (2 := Rmax_l _ _). lra.
      - unfold at_it. apply Rmax_lub.
        + change (before X (X k) 2) with (far X (X k) (1 + 1)). rewrite far_next. near_facts.
          pose proof (order (k - 1 - 1) (k - 1) ltac:(lia)).
          pose proof (order (k - 1 - 1) k ltac:(lia)). compared.
        + rewrite <- E, <- E'. apply before_before; [subst; apply rise|right; discriminate|lra].
      - unfold at_it. rewrite <- E, <- E'.
        apply before_before; [subst; apply rise|right; discriminate|lra].
    Qed.

    Lemma at_before t :
      s = X k -> s' = X k -> low = true -> before Y s' t <= at_it low high X (S t).
    Proof.
      intros E E' _. destruct t as [|t].
      - unfold at_it. apply Rle_trans with (2 := Rmax_r _ _). rewrite before_1.
        unfold before. near_facts. compared.
      - unfold at_it. rewrite <- E.
        apply before_before; [lra|right; discriminate|]. pose proof (rise k). lra.
    Qed.

    Lemma at_after t :
      s = X k -> Y k = X (k + 1)%Z -> Y (k - 1)%Z = X (k - 1)%Z -> X (k + 1)%Z <= s' <= upper ->
      after Y s' t <= at_it low high X (S t).
    Proof.
      intros E F B [L U]. destruct t as [|[|t]].
      - unfold at_it. rewrite after_0, before_1. near_facts. apply max4_lub.
        + apply Rle_trans with (2 := Rmax_l _ _). lra.
        + apply Rle_trans with (2 := Rmax_r _ _). compared.
        + apply Rle_trans with (2 := Rmax_r _ _). compared.
        + apply Rle_trans with (2 := Rmax_r _ _). compared.
      - rewrite after_1. change (at_it low high X 2) with (far X (X k) (1 + 1)).
        rewrite far_next. near_facts. pose proof (order (k - 1 - 1) (k - 1) ltac:(lia)).
        compared.
      - change (at_it low high X (S (S (S t)))) with (before X (X k) (S (S (S t)))).
        unfold after at 1. rewrite !from_2, (next_of (S (S t))). set (T := Z.of_nat (S (S t))).
        assert (2 <= T)%Z by lia. rewrite far_mirror, far_next. far_facts T. compared.
    Qed.

    (** Above the percentile; either another record moves, or this one, and none below it. *)
    Lemma after_after t :
      X (k + 1)%Z <= s -> Y k <= s' <= upper -> s <= s' ->
      (s' = s \/ (Y k = X k /\ forall j, Y j = X j \/ s <= X j)) ->
      after Y s' t <= after X s (S t).
    Proof.
      intros K [L U] Le H. destruct t as [|[|t]].
      - rewrite after_0, after_1. near_facts.
        destruct H as [H|[Hk Hj]]; [compared|].
        destruct (Hj (k - 1)%Z) as [G|G]; compared.
      - rewrite after_1. unfold after. change (before (mirror X) (upper - s) 2)
          with (far (mirror X) (upper - s) (1 + 1)). rewrite far_mirror_next. near_facts.
        replace (k + 1 + 1)%Z with (k + 2)%Z by lia. replace (k + 1 - 1)%Z with k by lia.
        replace (k - 1 - 1)%Z with (k - 2)%Z by lia.
        destruct H as [H|[Hk Hj]]; [compared|].
        destruct (Hj k) as [G|G]; compared.
      - unfold after. rewrite !from_2, (next_of (S (S t))). set (T := Z.of_nat (S (S t))).
        assert (2 <= T)%Z by lia. rewrite far_mirror, far_mirror_next. far_facts T.
        destruct H as [H|[Hk Hj]]; [compared|].
        destruct (Hj (k + T - 1)%Z) as [G|G]; compared.
    Qed.

    Lemma after_at t :
      s = X (k + 1)%Z -> s = Y k -> at_it low high Y t <= after X s (S t).
    Proof.
      intros E F. destruct t as [|[|t]].
      - rewrite after_1. unfold at_it. near_facts. destruct low, high; compared.
      - unfold after. change (before (mirror X) (upper - s) 2)
          with (far (mirror X) (upper - s) (1 + 1)). rewrite far_mirror_next.
        unfold at_it. rewrite before_1. near_facts.
        replace (k + 1 + 1)%Z with (k + 2)%Z by lia. replace (k + 1 - 1)%Z with k by lia.
        replace (k - 1 - 1)%Z with (k - 2)%Z by lia. compared.
      - unfold after. change (at_it low high Y (S (S t))) with (before Y (Y k) (S (S t))).
        rewrite !from_2, (next_of (S (S t))). set (T := Z.of_nat (S (S t))).
        assert (2 <= T)%Z by lia. rewrite far_mirror_next. unfold far. far_facts T.
        pose proof (order (k + 1) (k + T + 1) ltac:(lia)). compared.
    Qed.
  End Steps.

  (** ** One step *)

  Section Step.
    Context (low high : bool) (a b : Z) (X Y : Z -> R) (i i' : Z).
    Hypothesis X_sorted : is_sorted X.
    Hypothesis Y_sorted : is_sorted Y.
    Hypothesis step : rises low high a b X Y i i'.

    Lemma between j : X j <= Y j <= X (j + 1)%Z.
    Proof.
      destruct X_sorted as [_ M]. destruct step as [_ [_ [_ [Out [In [At _]]]]]].
      destruct (Z_lt_le_dec j a) as [L|L]; [rewrite Out by lia; split; [lra|apply M; lia]|].
      destruct (Z_lt_le_dec b j) as [G|G]; [rewrite Out by lia; split; [lra|apply M; lia]|].
      destruct (Z.eq_dec j b) as [E|E]; [subst j; assumption|].
      rewrite In by lia. split; [apply M; lia|lra].
    Qed.

    (** The record's value rises with it, and only with it. *)
    Lemma value : X i <= Y i' /\ (i <> a -> Y i' = X i).
    Proof.
      destruct X_sorted as [_ M]. destruct step as [AB [_ [_ [Out [In [At I]]]]]].
      destruct I as [[E F]|[[O F]|[O F]]]; subst i'.
      - subst i. split; [|tauto]. apply Rle_trans with (X b); [apply M; lia|tauto].
      - rewrite Out by lia. split; [lra|reflexivity].
      - rewrite In by lia. replace (i - 1 + 1)%Z with i by lia. split; [lra|reflexivity].
    Qed.
    Lemma rises_range : 0 <= Y i' <= upper.
    Proof. apply Y_sorted. Qed.

    Ltac mono i j := destruct X_sorted as [_ M]; apply M; lia.

    (** Condition 2 of admissibility, for values that rise. *)
    Lemma next_distance t : delta low high Y i' t <= delta low high X i (S t).
    Proof.
      pose proof between as Rise. pose proof value as [Up Same].
      pose proof rises_range as Range.
      destruct X_sorted as [XB XM]. destruct Y_sorted as [YB YM].
      destruct step as [AB [Low [High [Out [In [At I]]]]]].
      unfold delta.
      destruct (Z.compare_spec i k) as [E|L|G]; destruct (Z.compare_spec i' k) as [E'|L'|G'].
      - subst i i'. apply (at_at low high X Y (X k) (Y k)); auto.
      - subst i. assert (i' = k - 1)%Z by lia. apply (at_before low high X Y (X k) (Y i')); auto.
        + apply Same. lia.
        + apply Low. lia.
      - subst i. assert (a = k /\ i' = b) by lia. apply (at_after low high X Y (X k) (Y i')); auto.
        + apply In; lia.
        + apply Out; lia.
        + split; [|tauto]. apply Rle_trans with (X b); [apply XM; lia|].
          destruct H as [_ H]. subst i'. tauto.
      - assert (i = a) by lia. assert (b = k) by lia. subst i'.
        apply (before_at low high X Y (X i) (Y k)); auto.
        + apply XM; lia.
        + rewrite In by lia. f_equal; lia.
        + apply Out; lia.
      - apply (before_before X Y (X i) (Y i')); auto.
        + left. destruct (Z.eq_dec i a) as [A|A].
          * assert (i' = b) by lia. subst i'. apply Rle_trans with (X (b + 1)%Z); [tauto|].
            apply XM; lia.
          * rewrite (Same A). apply XM; lia.
        + apply YM; lia.
      - assert (i = a /\ i' = b) by lia. apply (before_after X Y (X i) (Y i')); auto.
        + apply XM; lia.
        + apply In; lia.
        + rewrite In by lia. f_equal; lia.
        + split; [|tauto]. destruct H as [_ H]. subst i'.
          apply Rle_trans with (X b); [apply XM; lia|tauto].
        + intros j J. destruct (Z_lt_le_dec j a) as [Q|Q].
          * left. apply XM; lia.
          * right. apply In; lia.
      - assert (i = k + 1)%Z by lia. subst i'. apply (after_at low high X Y (X i)); auto.
        + f_equal; assumption.
        + symmetry. apply Same. lia.
      - exfalso. lia.
      - apply (after_after X Y (X i) (Y i')); auto.
        + apply XM; lia.
        + split; [apply YM; lia|tauto].
        + destruct (Z.eq_dec i a) as [A|A]; [right|left; auto].
          split; [apply Out; lia|]. intros j.
          destruct (Z_lt_le_dec j a) as [Q|Q]; [left; apply Out; lia|right; apply XM; lia].
    Qed.

    (** Condition 1, at the database whose values rise. *)
    Lemma score_step : Rabs (score X i - score Y i') <= delta low high X i 0.
    Proof.
      pose proof between as Rise. pose proof value as [Up Same].
      pose proof rises_range as Range. pose proof (Rise k) as Rk.
      destruct X_sorted as [XB XM]. destruct Y_sorted as [YB YM].
      destruct step as [AB [Low [High [Out [In [At I]]]]]].
      pose proof (XB k). pose proof (XB i). pose proof (XB (k + 1)%Z).
      pose proof (XB (k - 1)%Z). pose proof (XM k (k + 1)%Z ltac:(lia)).
      pose proof (XM (k - 1)%Z k ltac:(lia)).
      unfold delta, score. destruct (Z.compare_spec i k) as [E|L|G].
      - subst i. replace (X k - X k) with 0 by ring. rewrite Rabs_R0. unfold at_it.
        replace (- 0 - - Rabs (Y k - Y i')) with (Rabs (Y k - Y i')) by ring.
        rewrite Rabs_Rabsolu. destruct (Z.eq_dec k a) as [A|A].
        + assert (i' = b) by lia. subst i'. destruct (Z.eq_dec b k) as [Q|Q].
          * subst b. replace (Y k - Y k) with 0 by ring. rewrite Rabs_R0.
            apply Rle_trans with (X (k - 1)%Z); [lra|]. apply le_max4. lra.
          * rewrite (In k) by lia. rewrite Rabs_left1.
            -- apply le_max4. lra.
            -- assert (X (k + 1)%Z <= X b) by (apply XM; lia). lra.
        + rewrite (Same A). destruct (Z.eq_dec i' k) as [Q|Q].
          * subst i'. pose proof (Same A) as F. rewrite F.
            replace (X k - X k) with 0 by ring. rewrite Rabs_R0.
            apply Rle_trans with (X (k - 1)%Z); [lra|]. apply le_max4. lra.
          * rewrite Low by lia. rewrite Rabs_right by lra. apply le_max4.
            destruct high; lra.
      - assert (X i <= X k) by (apply XM; lia). rewrite (Rabs_right (X k - X i)) by lra.
        unfold before. destruct (Z.eq_dec i a) as [A|A].
        + assert (i' = b) by lia. subst i'. destruct (Z_lt_le_dec k b) as [Q|Q].
          * rewrite (In k) by lia. assert (X (k + 1)%Z <= X b) by (apply XM; lia).
            rewrite (Rabs_left1 (X (k + 1)%Z - Y b)) by lra.
            apply le_max4. unfold Rabs. destruct (Rcase_abs _); lra.
          * assert (Y b <= Y k) by (apply YM; lia). rewrite (Rabs_right (Y k - Y b)) by lra.
            apply le_max4. destruct (Z.eq_dec b k) as [B|B].
            -- subst b. unfold Rabs. destruct (Rcase_abs _); lra.
            -- rewrite (Out k) by lia.
               assert (Y b <= X k).
               { apply Rle_trans with (X (b + 1)%Z); [tauto|apply XM; lia]. }
               unfold Rabs. destruct (Rcase_abs _); lra.
        + rewrite (Same A). rewrite (Rabs_right (Y k - X i)) by lra.
          apply le_max4. unfold Rabs. destruct (Rcase_abs _); lra.
      - assert (X (k + 1)%Z <= X i) by (apply XM; lia). rewrite (Rabs_left1 (X k - X i)) by lra.
        rewrite after_0. destruct (Z.eq_dec i a) as [A|A].
        + assert (i' = b) by lia. subst i'. rewrite (Out k) by lia.
          rewrite (Rabs_left1 (X k - Y b)) by lra.
          apply le_max4. unfold Rabs. destruct (Rcase_abs _); lra.
        + rewrite (Same A). rewrite (Rabs_left1 (Y k - X i)) by lra.
          apply le_max4. unfold Rabs. destruct (Rcase_abs _); lra.
    Qed.
  End Step.

  (** ** The mirror image *)

  Lemma mirror_mirror X : mirror (mirror X) = X.
  Proof.
    apply FunctionalExtensionality.functional_extensionality. intros j. unfold mirror.
    replace (2 * k - (2 * k - j))%Z with j by lia. lra.
  Qed.

  Lemma mirror_sorted X : is_sorted X -> is_sorted (mirror X).
  Proof.
    intros [B M]. unfold is_sorted, mirror. split; intros.
    - specialize (B (2 * k - j)%Z). lra.
    - assert (X (2 * k - j)%Z <= X (2 * k - i)%Z) by (apply M; lia). lra.
  Qed.

  Lemma mirror_at_it low high X t :
    is_sorted X -> at_it high low (mirror X) t <= at_it low high X t.
  Proof.
    intros [B M].
    assert (K : mirror X k = upper - X k) by (unfold mirror; f_equal; f_equal; lia).
    destruct t as [|[|t]]; unfold at_it.
    - unfold mirror. replace (2 * k - (k - 1))%Z with (k + 1)%Z by lia.
      replace (2 * k - (k + 1))%Z with (k - 1)%Z by lia. replace (2 * k - k)%Z with k by lia.
      destruct low, high; compared.
    - rewrite K. change (before (mirror X) (upper - X k) 1) with (after X (X k) 1).
      apply Rmax_lub.
      + apply Rle_trans with (2 := Rmax_l _ _). unfold mirror.
        replace (2 * k - (k + 1))%Z with (k - 1)%Z by lia.
        replace (2 * k - (k - 1))%Z with (k + 1)%Z by lia. lra.
      + apply Rle_trans with (2 := Rmax_r _ _). rewrite after_1, before_1.
        pose proof (B k). pose proof (B (k + 1)%Z). pose proof (B (k - 1)%Z).
        pose proof (B (k - 2)%Z). pose proof (M (k - 2)%Z (k - 1)%Z ltac:(lia)).
        pose proof (M (k - 1)%Z k ltac:(lia)). pose proof (M k (k + 1)%Z ltac:(lia)).
        compared.
    - rewrite K. change (before (mirror X) (upper - X k) (S (S t)))
        with (after X (X k) (S (S t))).
      unfold after. rewrite !from_2. set (T := Z.of_nat (S (S t))).
      assert (2 <= T)%Z by lia. rewrite far_mirror. unfold far.
      pose proof (B (k - T)%Z). pose proof (B (k + T)%Z). pose proof (B k).
      pose proof (M (k - T)%Z (k - T + 1)%Z ltac:(lia)).
      pose proof (M (k - T + 1)%Z k ltac:(lia)). pose proof (M k (k + T - 1)%Z ltac:(lia)).
      pose proof (M (k + T - 2)%Z (k + T - 1)%Z ltac:(lia)).
      pose proof (M (k + T - 1)%Z (k + T)%Z ltac:(lia)). compared.
  Qed.

  Lemma mirror_delta low high X i t :
    is_sorted X -> delta high low (mirror X) (2 * k - i) t = delta low high X i t.
  Proof.
    intros H. unfold delta.
    assert (V : mirror X (2 * k - i) = upper - X i)
      by (unfold mirror; replace (2 * k - (2 * k - i))%Z with i by lia; reflexivity).
    destruct (Z.compare_spec i k) as [E|L|G];
      destruct (Z.compare_spec (2 * k - i) k) as [E'|L'|G']; try lia.
    - apply Rle_antisym; [apply mirror_at_it; assumption|].
      rewrite <- (mirror_mirror X) at 1. apply mirror_at_it, mirror_sorted, H.
    - unfold after. rewrite mirror_mirror, V. f_equal. lra.
    - unfold after. rewrite V. reflexivity.
  Qed.

  Lemma mirror_score X i : score (mirror X) (2 * k - i) = score X i.
  Proof.
    unfold score, mirror. replace (2 * k - (2 * k - i))%Z with i by lia.
    replace (2 * k - k)%Z with k by lia.
    replace (upper - X k - (upper - X i)) with (- (X k - X i)) by ring.
    rewrite Rabs_Ropp. reflexivity.
  Qed.

  (** A value that falls is, in the mirror, one that rises. *)
  Lemma rises_back low high a b X Y i i' :
    is_sorted X -> is_sorted Y -> rises low high a b X Y i i' ->
    rises high low (2 * k - b) (2 * k - a) (mirror Y) (mirror X) (2 * k - i') (2 * k - i).
  Proof.
    intros [XB XM] [YB YM] [AB [Low [High [Out [In [At I]]]]]]. unfold rises, mirror.
    split; [lia|]. split; [intros; apply High; lia|]. split; [intros; apply Low; lia|].
    split; [intros j J; rewrite Out by lia; reflexivity|].
    split.
    - intros j J. f_equal. rewrite In by lia. f_equal. lia.
    - split; [|lia].
      replace (2 * k - (2 * k - a))%Z with a by lia.
      replace (2 * k - (2 * k - a + 1))%Z with (a - 1)%Z by lia.
      assert (X a <= Y a).
      { destruct (Z.eq_dec a b) as [E|N]; [subst; tauto|].
        rewrite (In a) by lia. apply XM. lia. }
      assert (Y (a - 1)%Z <= X a) by (rewrite Out by lia; apply XM; lia). lra.
  Qed.

  (** ** Admissibility *)

  (** A database of at least two records, seen from one of them. *)
  Record database := {
    values : Z -> R;
    place : Z;
    values_sorted : is_sorted values;
  }.

  Context (low high : bool).

  (** Substitution of one record, by a value that is not smaller or not larger. *)
  Definition substituted (x y : database) : Prop :=
    (exists a b, rises low high a b (values x) (values y) (place x) (place y))
    \/ (exists a b, rises high low a b (mirror (values x)) (mirror (values y))
                          (2 * k - place x) (2 * k - place y)).

  Lemma substituted_sym x y : substituted x y -> substituted y x.
  Proof.
    intros [[a [b H]]|[a [b H]]].
    - right. exists (2 * k - b)%Z, (2 * k - a)%Z.
      apply rises_back; auto using values_sorted.
    - left. exists (2 * k - b)%Z, (2 * k - a)%Z.
      apply rises_back in H; auto using mirror_sorted, values_sorted.
      rewrite !mirror_mirror in H.
      replace (2 * k - (2 * k - place x))%Z with (place x) in H by lia.
      replace (2 * k - (2 * k - place y))%Z with (place y) in H by lia. assumption.
  Qed.

  Definition sensitivity (x : database) (t : nat) : R := delta low high (values x) (place x) t.

  Lemma before_nonneg X s t : is_sorted X -> 0 <= s -> 0 <= before X s t.
  Proof.
    intros [B M] P. destruct t as [|[|t]].
    - unfold before. apply le_max4. lra.
    - rewrite before_1. pose proof (B k). apply le_max5. lra.
    - rewrite from_2. unfold far. pose proof (B (k + Z.of_nat (S (S t)) - 1)%Z).
      apply le_max4. lra.
  Qed.

  Theorem percentile_sensitivity_is_admissible :
    is_admissible substituted (fun x => score (values x) (place x)) sensitivity.
  Proof.
    split; [|split].
    - intros [X i H] t. unfold sensitivity, delta; simpl. pose proof H as [B M].
      destruct (i ?= k)%Z.
      + destruct t as [|t].
        * unfold at_it. pose proof (B (k - 1)%Z). apply le_max4. lra.
        * apply Rle_trans with (before X (X k) (S t)); [apply before_nonneg; [assumption|apply B]|].
          destruct t; unfold at_it; [apply Rmax_r|right; reflexivity].
      + apply before_nonneg; [assumption|apply B].
      + apply before_nonneg; [apply mirror_sorted; assumption|]. specialize (B i). lra.
    - intros [X i HX] [Y i' HY] [[a [b H]]|[a [b H]]]; unfold sensitivity; simpl in *.
      + apply (score_step low high a b X Y i i'); assumption.
      + rewrite <- (mirror_score X i), <- (mirror_score Y i'), <- (mirror_delta low high X i)
          by assumption.
        apply (score_step high low a b); auto using mirror_sorted.
    - intros [X i HX] [Y i' HY] t [[a [b H]]|[a [b H]]]; unfold sensitivity; simpl in *.
      + apply (next_distance low high a b X Y i i'); assumption.
      + rewrite <- (mirror_delta low high X i), <- (mirror_delta low high Y i') by assumption.
        apply (next_distance high low a b); auto using mirror_sorted.
  Qed.

  Lemma before_at_most X s t : is_sorted X -> 0 <= s <= X k -> before X s t <= upper.
  Proof.
    intros [B M] P. pose proof (M k (k + 1)%Z ltac:(lia)). destruct t as [|[|t]].
    - unfold before. pose proof (B k). pose proof (B (k + 1)%Z). apply max4_lub; lra.
    - rewrite before_1. pose proof (B k). pose proof (B (k + 1)%Z). pose proof (B (k + 2)%Z).
      pose proof (Rmax_l 0 (X (k - 1)%Z - s)). apply Rmax_lub; [lra|]. apply max4_lub; lra.
    - rewrite from_2. set (T := Z.of_nat (S (S t))). unfold far.
      pose proof (B (k + T - 1)%Z). pose proof (B (k - T + 2)%Z). pose proof (B (k + T)%Z).
      pose proof (B (k - T + 1)%Z). pose proof (Rmax_l 0 (X (k - T)%Z - s)).
      apply max4_lub; lra.
  Qed.

  Lemma sensitivity_at_most x t : sensitivity x t <= upper.
  Proof.
    destruct x as [X i H]. unfold sensitivity, delta; simpl. pose proof H as [B M].
    destruct (Z.compare_spec i k) as [E|L|G].
    - pose proof (B (k - 1)%Z). pose proof (B k). pose proof (B (k + 1)%Z).
      destruct t as [|t].
      + unfold at_it. apply max4_lub; destruct low, high; lra.
      + pose proof (before_at_most X (X k) (S t) H ltac:(lra)).
        destruct t as [|t]; unfold at_it; [apply Rmax_lub; [lra|assumption]|assumption].
    - apply before_at_most; [assumption|]. specialize (B i). specialize (M i k ltac:(lia)). lra.
    - unfold after. apply before_at_most; [apply mirror_sorted; assumption|].
      assert (X k <= X i) by (apply M; lia). specialize (B i).
      unfold mirror. replace (2 * k - k)%Z with k by lia. lra.
  Qed.

  (** As it is computed: up to a public horizon, and the bound from there on. *)
  Theorem percentile_sensitivity_with_a_horizon_is_admissible (horizon : nat) :
    0 <= upper ->
    is_admissible substituted (fun x => score (values x) (place x))
      (fun x t => if Nat.ltb t horizon then sensitivity x t else upper).
  Proof.
    intros U. apply horizon_is_admissible;
      [assumption|apply sensitivity_at_most|apply percentile_sensitivity_is_admissible].
  Qed.

  Lemma before_at_the_percentile h X t :
    is_sorted X -> X (k - 1)%Z = X k -> before X (X k) t = at_it true h X t.
  Proof.
    intros [B M] E. destruct t as [|[|t]]; unfold at_it; [| |reflexivity].
    - unfold before. pose proof (B k). pose proof (B (k + 1)%Z).
      pose proof (M k (k + 1)%Z ltac:(lia)).
      apply Rle_antisym; destruct h; compared.
    - apply Rle_antisym; [apply Rmax_r|]. apply Rmax_lub; [|right; reflexivity].
      rewrite before_1, E. compared.
  Qed.

  (** Among equal values it does not matter whose place a record has. There are records below
      the percentile if one is ([low]), and above it. *)
  Theorem ties_do_not_matter X i j t :
    is_sorted X -> (i <= j)%Z -> X i = X j ->
    ((i < k)%Z -> low = true) -> ((k < j)%Z -> high = true) ->
    delta low high X i t = delta low high X j t.
  Proof.
    assert (to_it : forall l h Z i t, is_sorted Z -> (i < k)%Z -> Z i = Z k -> l = true ->
                     delta l h Z i t = delta l h Z k t).
    { intros l h Z i0 t0 HZ L E Q. pose proof HZ as [_ M]. unfold delta.
      rewrite Z.compare_refl. destruct (Z.compare_spec i0 k) as [|_|]; try lia.
      rewrite E, Q. apply before_at_the_percentile; [assumption|].
      assert (Z i0 <= Z (k - 1)%Z) by (apply M; lia).
      assert (Z (k - 1)%Z <= Z k) by (apply M; lia). lra. }
    intros H O E Lo Hi. pose proof H as [_ M].
    destruct (Z_lt_le_dec i k) as [L|L].
    - destruct (Z_lt_le_dec j k) as [L'|L'].
      + unfold delta. destruct (Z.compare_spec i k), (Z.compare_spec j k); try lia.
        rewrite E. reflexivity.
      + assert (X i <= X k) by (apply M; lia). assert (X k <= X j) by (apply M; lia).
        rewrite (to_it low high X i t); auto; [|lra].
        destruct (Z.eq_dec j k) as [F|F]; [subst; reflexivity|].
        rewrite <- (mirror_delta low high X k t), <- (mirror_delta low high X j t) by assumption.
        replace (2 * k - k)%Z with k by lia. symmetry.
        apply to_it; [apply mirror_sorted; assumption|lia| |apply Hi; lia].
        unfold mirror. replace (2 * k - (2 * k - j))%Z with j by lia.
        replace (2 * k - k)%Z with k by lia. lra.
    - destruct (Z.eq_dec i k) as [F|F].
      + destruct (Z.eq_dec j k) as [F'|F']; [subst; reflexivity|]. subst i.
        rewrite <- (mirror_delta low high X k t), <- (mirror_delta low high X j t) by assumption.
        replace (2 * k - k)%Z with k by lia. symmetry.
        apply to_it; [apply mirror_sorted; assumption|lia| |apply Hi; lia].
        unfold mirror. replace (2 * k - (2 * k - j))%Z with j by lia.
        replace (2 * k - k)%Z with k by lia. lra.
      + unfold delta. destruct (Z.compare_spec i k), (Z.compare_spec j k); try lia.
        rewrite E. reflexivity.
  Qed.
End Percentile.

Print Assumptions percentile_sensitivity_with_a_horizon_is_admissible.
Print Assumptions ties_do_not_matter.
