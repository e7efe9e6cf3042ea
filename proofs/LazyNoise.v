(** The draw by noise that is compared bit by bit, of dpselect.draws.exact.selection and
    dpselect.draws.exact.lazy_noise, as a program over random bits.

    Candidate i has a noisy score that is a function of a uniform number, which is known by its
    first bits; these give bounds of the noisy score. Who can still be among the k largest is
    sorted, and where bounds overlap twice as many bits are read of the one of which fewer are
    known. *)

Require Import Reals ZArith QArith Qreals List Lra Lia Bool Sorting.Sorted Permutation.
Import ListNotations.
Open Scope nat_scope.

(** ** The program *)

(** How often the bits of a candidate were doubled, and bounds of its noisy score; no bound where
    a logarithm is infinite. *)
Record known := Known { who : nat; level : nat; low : option Q; high : option Q }.

Definition above (x y : known) : bool :=
  match low x, high y with
  | Some l, Some h => negb (Qle_bool l h)
  | _, _ => false
  end.

(** Those of which fewer than k are above. *)
Definition contenders (k : nat) (all : list known) : list known :=
  filter (fun x => length (filter (fun y => above y x) all) <? k) all.

Section Program.
  (** What the bits of a candidate at a level tell; there are bits for so many levels. *)
  Context (look : nat -> nat -> known) (depth : nat).

  Definition refine (x : known) : known :=
    if level x <? depth then look (who x) (S (level x)) else x.

  (** Whether the first is larger, with both as they are known then. *)
  Fixpoint compare (rounds : nat) (x y : known) : option (bool * (known * known)) :=
    if above x y then Some (true, (x, y))
    else if above y x then Some (false, (x, y))
    else match rounds with
         | O => None
         | S rounds =>
             if level x <=? level y then compare rounds (refine x) y
             else compare rounds x (refine y)
         end.

  Fixpoint insert (x : known) (l : list known) : option (list known) :=
    match l with
    | [] => Some [x]
    | y :: rest =>
        match compare (2 * depth) x y with
        | None => None
        | Some (true, (x, y)) => Some (x :: y :: rest)
        | Some (false, (x, y)) =>
            match insert x rest with
            | None => None
            | Some rest => Some (y :: rest)
            end
        end
    end.

  Fixpoint sort (l : list known) : option (list known) :=
    match l with
    | [] => Some []
    | x :: rest =>
        match sort rest with
        | None => None
        | Some rest => insert x rest
        end
    end.

  (** The k largest of n, the largest first. *)
  Definition draw (n k : nat) : option (list nat) :=
    match sort (contenders k (map (fun i => look i 0) (seq 0 n))) with
    | None => None
    | Some l => Some (firstn k (map who l))
    end.
End Program.

Lemma distinct_names {A : Type} (names : known -> A) (f : known -> bool) l :
  NoDup (map names l) -> NoDup (map names (filter f l)).
Proof.
  intros N. induction l as [|x l IH]; [constructor|]. cbn [filter map] in *.
  inversion N as [|? ? Nx N']. subst. specialize (IH N').
  destruct (f x); [|assumption]. cbn [map]. constructor; [|assumption].
  intros Hx. apply Nx. apply in_map_iff in Hx. destruct Hx as [y [E Hy]].
  apply filter_In in Hy. rewrite <- E. apply in_map. tauto.
Qed.

Lemma distinct_front {A : Type} (l : list A) (k : nat) : NoDup l -> NoDup (firstn k l).
Proof.
  revert l. induction k as [|k IH]; intros l N; [constructor|].
  destruct l as [|x l]; [constructor|]. inversion N as [|? ? Nx N']. subst.
  cbn [firstn]. constructor; [|apply IH; assumption].
  intros Hx. apply Nx. rewrite <- (firstn_skipn k). apply in_or_app. left. assumption.
Qed.

(** ** What it decides *)

Section Right.
  Context (look : nat -> nat -> known) (depth : nat) (v : nat -> R).

  (** Bounds hold for the noisy scores v. *)
  Definition holds (x : known) : Prop :=
    (forall l, low x = Some l -> (Q2R l <= v (who x))%R)
    /\ (forall h, high x = Some h -> (v (who x) <= Q2R h)%R).

  Hypothesis named : forall i j, who (look i j) = i.
  Hypothesis bounded : forall i j, j <= depth -> holds (look i j).

  Lemma above_is_larger x y : holds x -> holds y -> above x y = true -> (v (who y) < v (who x))%R.
  Proof.
    intros [X _] [_ Y] A. unfold above in A.
    destruct (low x) as [l|]; [|discriminate]. destruct (high y) as [h|]; [|discriminate].
    specialize (X l eq_refl). specialize (Y h eq_refl).
    destruct (Qlt_le_dec h l) as [L|L].
    - apply Qlt_Rlt in L. lra.
    - apply Qle_bool_iff in L. rewrite L in A. discriminate.
  Qed.

  Lemma who_refine x : who (refine look depth x) = who x.
  Proof. unfold refine. destruct (_ <? _); [apply named|reflexivity]. Qed.

  Lemma refine_holds x : holds x -> holds (refine look depth x).
  Proof.
    intros H. unfold refine. destruct (Nat.ltb_spec (level x) depth) as [L|]; [|assumption].
    apply bounded. lia.
  Qed.

  Lemma compare_is_right rounds x y b x' y' :
    holds x -> holds y -> compare look depth rounds x y = Some (b, (x', y')) ->
    who x' = who x /\ who y' = who y /\ holds x' /\ holds y'
    /\ if b then (v (who y) < v (who x))%R else (v (who x) < v (who y))%R.
  Proof.
    revert x y. induction rounds as [|rounds IH]; intros x y X Y C; cbn [compare] in C;
      (destruct (above x y) eqn:A;
       [injection C; intros; subst; repeat (split; auto); apply above_is_larger; auto|]);
      (destruct (above y x) eqn:A';
       [injection C; intros; subst; repeat (split; auto); apply above_is_larger; auto|]);
      [discriminate|].
    destruct (level x <=? level y);
      (apply IH in C; try apply refine_holds; auto; rewrite who_refine in C; assumption).
  Qed.

  Definition larger (i j : nat) : Prop := (v j < v i)%R.
  Definition fine (l : list known) : Prop :=
    Forall holds l /\ StronglySorted larger (map who l).

  Lemma insert_is_right x l l' :
    holds x -> fine l -> insert look depth x l = Some l' ->
    fine l' /\ Permutation (map who l') (who x :: map who l).
  Proof.
    revert x l'. induction l as [|y rest IH]; intros x l' X [F S] I.
    - injection I as <-. split; [|reflexivity]. split.
      + constructor; [assumption|constructor].
      + cbn [map]. repeat constructor.
    - cbn [insert] in I. inversion F as [|? ? Y F']. subst. cbn [map] in S.
      inversion S as [|? ? S' L]. subst.
      destruct (compare look depth (2 * depth) x y) as [[[] [x' y']]|] eqn:C; [| |discriminate].
      + apply compare_is_right in C; auto. destruct C as [Ex [Ey [X' [Y' G]]]].
        injection I as <-. split.
        * split; [apply Forall_cons; [assumption|apply Forall_cons; assumption]|].
          cbn [map]. rewrite Ex, Ey.
          constructor; [assumption|]. constructor; [exact G|].
          eapply Forall_impl; [|exact L]. intros j Hj. unfold larger in *. lra.
        * cbn [map]. rewrite Ex, Ey. reflexivity.
      + apply compare_is_right in C; auto. destruct C as [Ex [Ey [X' [Y' G]]]].
        destruct (insert look depth x' rest) as [l''|] eqn:I'; [|discriminate].
        injection I as <-. destruct (IH x' l'' X' (conj F' S') I') as [[F2 S2] P].
        rewrite Ex in P. split.
        * split; [constructor; auto|]. cbn [map]. rewrite Ey. constructor; [assumption|].
          apply (Permutation_Forall (Permutation_sym P)). constructor; [exact G|assumption].
        * cbn [map]. rewrite Ey. rewrite P. apply perm_swap.
  Qed.

  Lemma sort_is_right l l' :
    Forall holds l -> sort look depth l = Some l' ->
    fine l' /\ Permutation (map who l') (map who l).
  Proof.
    revert l'. induction l as [|x rest IH]; intros l' F S; cbn [sort] in S.
    - injection S as <-. split; [split; constructor|reflexivity].
    - inversion F as [|? ? X F']. subst.
      destruct (sort look depth rest) as [l''|] eqn:S'; [|discriminate].
      destruct (IH l'' F' eq_refl) as [G P].
      destruct (insert_is_right x l'' l' X G S) as [G' P']. split; [assumption|].
      rewrite P'. cbn [map]. constructor. assumption.
  Qed.

  (** Beyond any number from which k are above, k contenders are. *)
  Definition over (h : Q) (x : known) : bool :=
    match low x with Some l => negb (Qle_bool l h) | None => false end.

  Lemma filter_less {A : Type} (f g : A -> bool) (l : list A) x :
    In x l -> f x = false -> g x = true -> (forall y, In y l -> f y = true -> g y = true) ->
    length (filter f l) < length (filter g l).
  Proof.
    assert (W : forall l, (forall y, In y l -> f y = true -> g y = true) ->
                          length (filter f l) <= length (filter g l)).
    { clear. intros l. induction l as [|y l IH]; intros H; [reflexivity|]. cbn [filter].
      specialize (IH (fun z Hz => H z (or_intror Hz))). specialize (H y (or_introl eq_refl)).
      destruct (f y), (g y); cbn [length]; first [lia | specialize (H eq_refl); discriminate]. }
    induction l as [|y l IH]; intros I Fx Gx H; [destruct I|]. cbn [filter].
    pose proof (W l (fun z Hz => H z (or_intror Hz))) as Wl.
    destruct I as [->|I].
    - rewrite Fx, Gx. cbn [length]. lia.
    - specialize (IH I Fx Gx (fun z Hz => H z (or_intror Hz))).
      specialize (H y (or_introl eq_refl)).
      destruct (f y), (g y); cbn [length]; first [lia | specialize (H eq_refl); discriminate].
  Qed.

  Lemma k_contenders k all (size : nat) h :
    NoDup (map who all) ->
    (forall x, In x all -> forall l u, low x = Some l -> high x = Some u -> (l <= u)%Q) ->
    length (filter (over h) all) <= size -> k <= length (filter (over h) all) ->
    exists some, length some = k /\ NoDup (map who some) /\ incl some (contenders k all)
                 /\ Forall (fun x => over h x = true) some.
  Proof.
    intros N O. revert h. induction size as [|size IH]; intros h Hs Hk.
    - exists []. simpl. replace k with 0 by lia.
      repeat split; [constructor|intros x []|constructor].
    - destruct (forallb (fun x => length (filter (fun y => above y x) all) <? k)
                        (filter (over h) all)) eqn:A.
      + rewrite forallb_forall in A.
        exists (firstn k (filter (over h) all)).
        assert (I : incl (firstn k (filter (over h) all)) (filter (over h) all)).
        { intros x Hx. rewrite <- (firstn_skipn k). apply in_or_app. left. assumption. }
        split; [apply firstn_length_le; assumption|]. split; [|split].
        * rewrite <- firstn_map. apply distinct_front, distinct_names, N.
        * intros x Hx. apply filter_In. specialize (I x Hx). split; [|apply A; assumption].
          apply filter_In in I. tauto.
        * apply Forall_forall. intros x Hx. specialize (I x Hx). apply filter_In in I. tauto.
      + (* Of those beyond h one is no contender: k are above it, and it is not among these. *)
        assert (E : exists x, In x (filter (over h) all)
                    /\ (length (filter (fun y => above y x) all) <? k) = false).
        { clear - A. revert A. generalize (filter (over h) all). intros l A.
          induction l as [|x l IH]; [discriminate|]. cbn [forallb] in A.
          destruct (length (filter (fun y => above y x) all) <? k) eqn:Fx;
            [|exists x; split; [left; reflexivity|assumption]].
          destruct IH as [y [Y1 Y2]]; [assumption|]. exists y. split; [right; assumption|assumption]. }
        destruct E as [x [Hx Fx]]. apply filter_In in Hx. destruct Hx as [Ix Ox].
        apply Nat.ltb_ge in Fx.
        destruct (high x) as [u|] eqn:U.
        * assert (same : filter (fun y => above y x) all = filter (over u) all).
          { apply filter_ext. intros y. unfold above, over. rewrite U. reflexivity. }
          rewrite same in Fx.
          unfold over in Ox. destruct (low x) as [l|] eqn:L; [|discriminate].
          assert (hu : (h < u)%Q).
          { apply Qlt_le_trans with l; [|apply (O x); assumption].
            destruct (Qlt_le_dec h l) as [G|G]; [assumption|].
            apply Qle_bool_iff in G. rewrite G in Ox. discriminate. }
          assert (wider : forall y, over u y = true -> over h y = true).
          { intros y. unfold over. destruct (low y) as [z|]; [|discriminate].
            intros Y. destruct (Qle_bool z h) eqn:Z; [|reflexivity].
            apply Qle_bool_iff in Z.
            assert (C : (z <= u)%Q) by (apply Qle_trans with h; [assumption|apply Qlt_le_weak; assumption]).
            apply Qle_bool_iff in C. rewrite C in Y. discriminate. }
          assert (less : length (filter (over u) all) < length (filter (over h) all)).
          { apply filter_less with x; auto; unfold over; rewrite L.
            - assert (C : (l <= u)%Q) by (apply (O x); assumption).
              apply Qle_bool_iff in C. rewrite C. reflexivity.
            - assumption. }
          destruct (IH u ltac:(lia) Fx) as [some [S1 [S2 [S3 S4]]]].
          exists some. repeat split; try assumption.
          eapply Forall_impl; [|exact S4]. exact wider.
        * assert (Z : filter (fun y => above y x) all = []).
          { clear - U. induction all as [|y all IH]; [reflexivity|]. cbn [filter].
            unfold above at 1. rewrite U. destruct (low y); assumption. }
          rewrite Z in Fx. simpl in Fx.
          exists []. simpl. replace k with 0 by lia.
          repeat split; [constructor|intros y []|constructor].
  Qed.

  Lemma sorted_split l1 i l2 :
    StronglySorted larger (l1 ++ i :: l2) -> Forall (fun j => larger j i) l1.
  Proof.
    induction l1 as [|j l1 IH]; cbn [app]; intros S; constructor; inversion S as [|? ? S' F]; subst.
    - rewrite Forall_forall in F. apply F. apply in_or_app. right. left. reflexivity.
    - apply IH. assumption.
  Qed.

  (** What is drawn are the k largest, the largest first, whatever the noisy scores are within
      their bounds. *)
  Theorem draw_is_right n k l :
    draw look depth n k = Some l ->
    length l = Nat.min k n /\ NoDup l /\ StronglySorted larger l
    /\ (forall i, In i l -> i < n)
    /\ (forall i j, In i l -> j < n -> ~ In j l -> larger i j).
  Proof.
    intros D. unfold draw in D. set (all := map (fun i => look i 0) (seq 0 n)) in D.
    destruct (sort look depth (contenders k all)) as [s|] eqn:S; [|discriminate].
    injection D as <-.
    assert (names : map who all = seq 0 n).
    { unfold all. rewrite map_map. rewrite (map_ext _ (fun i => i)) by (intro; apply named).
      apply map_id. }
    assert (unique : NoDup (map who all)) by (rewrite names; apply seq_NoDup).
    assert (H : forall x, In x all -> holds x).
    { intros x Hx. apply in_map_iff in Hx. destruct Hx as [i [<- _]]. apply bounded. lia. }
    assert (ordered : forall x, In x all -> forall l u, low x = Some l -> high x = Some u -> (l <= u)%Q).
    { intros x Hx l u L U. destruct (H x Hx) as [A B]. apply Rle_Qle.
      apply Rle_trans with (v (who x)); auto. }
    assert (inside : incl (contenders k all) all).
    { intros x Hx. apply filter_In in Hx. tauto. }
    destruct (sort_is_right (contenders k all) s) as [[F T] P]; [|assumption|].
    { apply Forall_forall. intros x Hx. apply H, inside, Hx. }
    assert (distinct : NoDup (map who (contenders k all)))
      by (apply distinct_names, unique).
    assert (ND : NoDup (map who s)).
    { apply Permutation_NoDup with (1 := Permutation_sym P). assumption. }
    set (m := map who s) in *.
    assert (range : forall i, In i m -> i < n).
    { intros i Hi. apply (Permutation_in i P) in Hi. apply in_map_iff in Hi.
      destruct Hi as [x [<- Hx]]. apply inside in Hx. apply (in_map who) in Hx.
      rewrite names in Hx. apply in_seq in Hx. lia. }
    assert (front : incl (firstn k m) m).
    { intros i Hi. rewrite <- (firstn_skipn k m). apply in_or_app. left. assumption. }
    (* Enough of them stand above one that was left out. *)
    assert (enough : forall j, j < n -> ~ In j m ->
              exists t, length t = k /\ NoDup t /\ incl t m /\ Forall (fun i => larger i j) t).
    { intros j Hj Nj.
      assert (Ij : In (look j 0) all).
      { apply (in_map (fun i => look i 0)). apply in_seq. lia. }
      destruct (le_lt_dec k (length (filter (fun y => above y (look j 0)) all))) as [G|G].
      - destruct (high (look j 0)) as [u|] eqn:U.
        + assert (same : filter (fun y => above y (look j 0)) all = filter (over u) all).
          { apply filter_ext. intros y. unfold above, over. rewrite U. reflexivity. }
          rewrite same in G.
          destruct (k_contenders k all _ u unique ordered (le_n _) G)
            as [t [T1 [T2 [T3 T4]]]].
          exists (map who t). rewrite map_length. repeat split; auto.
          * intros i Hi. apply in_map_iff in Hi. destruct Hi as [x [<- Hx]].
            apply (Permutation_in _ (Permutation_sym P)). apply in_map. auto.
          * apply Forall_forall. intros i Hi. apply in_map_iff in Hi. destruct Hi as [x [<- Hx]].
            rewrite Forall_forall in T4. specialize (T4 x Hx).
            unfold larger. rewrite <- (named j 0).
            apply above_is_larger; [apply H, inside, T3, Hx|apply H, Ij|].
            unfold above. rewrite U. exact T4.
        + assert (Z : filter (fun y => above y (look j 0)) all = []).
          { clear - U. generalize all. intros l. induction l as [|y l IH]; [reflexivity|].
            cbn [filter]. unfold above at 1. rewrite U. destruct (low y); assumption. }
          rewrite Z in G. simpl in G. exists []. replace k with 0 by lia.
          repeat split; [constructor|intros y []|constructor].
      - exfalso. apply Nj. apply (Permutation_in j (Permutation_sym P)).
        rewrite <- (named j 0). apply in_map. apply filter_In. split; [assumption|].
        apply Nat.ltb_lt. assumption. }
    split; [|split; [|split; [|split]]].
    - destruct (le_lt_dec n (length m)) as [L|L].
      + rewrite firstn_length. assert (length m <= n).
        { rewrite <- (seq_length n 0). apply NoDup_incl_length; [assumption|].
          intros i Hi. apply in_seq. specialize (range i Hi). lia. }
        lia.
      + assert (exists j, j < n /\ ~ In j m).
        { destruct (Forall_Exists_dec (fun j => In j m) (fun j => in_dec Nat.eq_dec j m) (seq 0 n))
            as [A|E].
          - exfalso. rewrite Forall_forall in A. apply NoDup_incl_length in A; [|apply seq_NoDup].
            rewrite seq_length in A. lia.
          - apply Exists_exists in E. destruct E as [j [Hj Nj]]. apply in_seq in Hj.
            exists j. split; [lia|assumption]. }
        destruct H0 as [j [Hj Nj]]. destruct (enough j Hj Nj) as [t [T1 [T2 [T3 _]]]].
        apply NoDup_incl_length in T3; [|assumption]. rewrite firstn_length. lia.
    - apply distinct_front, ND.
    - rewrite <- (firstn_skipn k m) in T. revert T. generalize (skipn k m). generalize (firstn k m).
      clear. intros l r. induction l as [|i l IH]; intros T; [constructor|].
      cbn [app] in T. inversion T as [|? ? T' L]. subst. constructor; [auto|].
      apply Forall_app in L. tauto.
    - intros i Hi. apply range, front, Hi.
    - intros i j Hi Hj Nj.
      destruct (in_split i (firstn k m) Hi) as [l1 [l2 E]].
      assert (M : m = l1 ++ i :: (l2 ++ skipn k m)).
      { rewrite <- (firstn_skipn k m) at 1. rewrite E, <- app_assoc. reflexivity. }
      assert (L1 : length l1 < k).
      { assert (length (firstn k m) <= k) by apply firstn_le_length.
        rewrite E, app_length in H0. simpl in H0. lia. }
      destruct (in_dec Nat.eq_dec j m) as [Ij|Ij].
      + (* behind in the sorted list *)
        rewrite <- (firstn_skipn k m) in T, Ij. apply in_app_or in Ij.
        destruct Ij as [Ij|Ij]; [contradiction|].
        destruct (in_split j _ Ij) as [r1 [r2 E2]].
        rewrite E2, app_assoc in T. apply sorted_split in T. rewrite Forall_forall in T.
        apply T. apply in_or_app. left. assumption.
      + destruct (enough j Hj Ij) as [t [T1 [T2 [T3 T4]]]].
        destruct (Rlt_le_dec (v j) (v i)) as [G|G]; [assumption|exfalso].
        assert (I : incl t l1).
        { intros x Hx. specialize (T3 x Hx). rewrite Forall_forall in T4.
          specialize (T4 x Hx). unfold larger in T4. rewrite M in T3. apply in_app_or in T3.
          destruct T3 as [T3|T3]; [assumption|exfalso].
          destruct T3 as [->|T3]; [lra|].
          rewrite M in T. apply in_split in T3. destruct T3 as [r1 [r2 E2]].
          rewrite E2 in T.
          replace (l1 ++ i :: r1 ++ x :: r2) with ((l1 ++ i :: r1) ++ x :: r2) in T
            by (rewrite <- app_assoc; reflexivity).
          apply sorted_split in T. rewrite Forall_forall in T.
          specialize (T i). unfold larger in T.
          assert (v x < v i)%R by (apply T; apply in_or_app; right; left; reflexivity). lra. }
        apply NoDup_incl_length in I; [|assumption]. lia.
  Qed.
End Right.

Print Assumptions draw_is_right.
