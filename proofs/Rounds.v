(** Draws until a stop, of values that the database itself brings: the unknown domain.

    On two neighbours some values are there on one side alone. In every draw such a value comes
    with at most [rho] times the probability of the stop; all else comes with a probability of at
    most [exp eta] times that on the other side. Then so many draws as were made are what is paid,
    and [rho / (1 + rho)] is the delta of all of them together. *)

Require Import Reals List Lra.
Require Import UnitScores Filter.
Import ListNotations.
Open Scope R_scope.

Section Rounds.
  Context {O : Type} (eta rho : R).
  Hypothesis eta_pos : 0 < eta.
  Hypothesis rho_nonneg : 0 <= rho.

  (** What an outcome is: the stop, a value that is on this side alone, or one of both. *)
  Inductive kind := stops | own | common.

  (** At most so many draws as the tree is deep; each goes on by its outcome. *)
  Inductive rounds :=
  | done
  | draw (l : list O) (p q : O -> R) (is : O -> kind) (next : O -> rounds).

  Definition chance_of (k : kind) (l : list O) (p : O -> R) (is : O -> kind) : R :=
    total (fun o => match is o, k with
                    | stops, stops | own, own | common, common => p o
                    | _, _ => 0
                    end) l.

  Fixpoint are_drawn_so (s : rounds) : Prop :=
    match s with
    | done => True
    | draw l p q is next =>
        (forall o, In o l -> 0 <= p o /\ 0 <= q o /\ (is o <> own -> p o <= exp eta * q o))
        /\ total p l = 1
        /\ chance_of own l p is <= rho * chance_of stops l p is
        /\ forall o, are_drawn_so (next o)
    end.

  (** The sum of [w P - z e^(eta draws) Q]_+ over all transcripts. *)
  Fixpoint over (s : rounds) (w z : R) : R :=
    match s with
    | done => excess_of w z
    | draw l p q is next =>
        total (fun o => match is o with
                        | stops => excess_of (w * p o) (exp eta * z * q o)
                        | _ => over (next o) (w * p o) (exp eta * z * q o)
                        end) l
    end.

  (** The probabilities that a value of this side alone comes before the stop, and the stop. *)
  Fixpoint comes (s : rounds) : R :=
    match s with
    | done => 0
    | draw l p _ is next =>
        total (fun o => match is o with
                        | stops => 0 | own => p o | common => p o * comes (next o)
                        end) l
    end.

  Fixpoint stopped (s : rounds) : R :=
    match s with
    | done => 0
    | draw l p _ is next =>
        total (fun o => match is o with
                        | stops => p o | own => 0 | common => p o * stopped (next o)
                        end) l
    end.

  Lemma total_plus_le (f g h : O -> R) (l : list O) :
    (forall o, In o l -> f o + g o <= h o) -> total f l + total g l <= total h l.
  Proof. intros H. rewrite <- total_plus. apply total_le. exact H. Qed.

  Lemma comes_or_stops s :
    are_drawn_so s -> 0 <= comes s /\ 0 <= stopped s /\ comes s + stopped s <= 1.
  Proof.
    induction s as [|l p q is next IH]; simpl; [lra|]. intros [N [One [_ H]]].
    split; [|split].
    - apply total_nonneg. intros o Ho. destruct (N o Ho) as [P _].
      destruct (IH o (H o)). destruct (is o); [lra|assumption|nra].
    - apply total_nonneg. intros o Ho. destruct (N o Ho) as [P _].
      destruct (IH o (H o)) as [_ [S _]]. destruct (is o); [assumption|lra|nra].
    - rewrite <- One. apply total_plus_le. intros o Ho. destruct (N o Ho) as [P _].
      destruct (IH o (H o)) as [_ [_ S]]. destruct (is o); nra.
  Qed.

  Lemma comes_at_most s : are_drawn_so s -> comes s <= rho * stopped s.
  Proof.
    induction s as [|l p q is next IH]; simpl; [lra|]. intros [N [One [B H]]].
    unfold chance_of in B.
    set (more := total (fun o => match is o with
                                 | common => p o * (rho * stopped (next o)) | _ => 0 end) l).
    apply Rle_trans with (total (fun o => match is o, own with
        | stops, stops | own, own | common, common => p o | _, _ => 0 end) l + more).
    - unfold more. rewrite <- total_plus. apply total_le. intros o Ho.
      destruct (N o Ho) as [P _]. specialize (IH o (H o)). destruct (is o); nra.
    - apply Rle_trans with (rho * total (fun o => match is o, stops with
        | stops, stops | own, own | common, common => p o | _, _ => 0 end) l + more); [lra|].
      unfold more. rewrite <- !total_scale, <- total_plus. apply total_le. intros o Ho.
      destruct (is o); lra.
  Qed.

  Lemma over_at_most_all s w z : are_drawn_so s -> 0 <= w -> 0 <= z -> over s w z <= w.
  Proof.
    revert w z. induction s as [|l p q is next IH]; simpl; intros w z.
    - intros _ W Z. apply excess_of_least; lra.
    - intros [N [One [_ H]]] W Z. apply Rle_trans with (total (fun o => w * p o) l).
      + apply total_le. intros o Ho. destruct (N o Ho) as [P [Q _]].
        pose proof (exp_pos eta). assert (0 <= exp eta * z * q o) by (apply Rmult_le_pos; nra).
        assert (0 <= w * p o) by nra.
        destruct (is o); [apply excess_of_least; lra|apply IH; auto|apply IH; auto].
      + rewrite total_scale, One. lra.
  Qed.

  Lemma over_at_most_own s w z :
    are_drawn_so s -> 0 <= w <= z -> over s w z <= w * comes s.
  Proof.
    revert w z. induction s as [|l p q is next IH]; simpl; intros w z.
    - intros _ [W Z]. apply excess_of_least; lra.
    - intros [N [One [_ H]]] [W Z]. rewrite <- total_scale. apply total_le.
      intros o Ho. destruct (N o Ho) as [P [Q G]]. pose proof (exp_pos eta) as E.
      assert (0 <= w * p o) by nra. assert (0 <= exp eta * z * q o) by (apply Rmult_le_pos; nra).
      destruct (is o) eqn:K.
      + assert (p o <= exp eta * q o) by (apply G; discriminate).
        apply excess_of_least; nra.
      + apply over_at_most_all; auto.
      + assert (p o <= exp eta * q o) by (apply G; discriminate).
        replace (w * (p o * comes (next o))) with (w * p o * comes (next o)) by ring.
        apply IH; auto. split; nra.
  Qed.

  (** What [is_honest] asks of a release whose price is its number of draws. *)
  Theorem unknown_domain_with_refunds s :
    are_drawn_so s -> over s 1 1 <= rho / (1 + rho).
  Proof.
    intros H. pose proof (over_at_most_own s 1 1 H ltac:(lra)).
    pose proof (comes_at_most s H). destruct (comes_or_stops s H) as [C [S T]].
    assert (comes s * (1 + rho) <= rho) by nra.
    apply Rle_trans with (comes s); [lra|].
    apply (Rmult_le_reg_r (1 + rho)); [lra|].
    replace (rho / (1 + rho) * (1 + rho)) with rho by (field; lra). assumption.
  Qed.
End Rounds.

Print Assumptions unknown_domain_with_refunds.
