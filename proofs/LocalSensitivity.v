(** The local sensitivity at a distance is admissible, and no admissible function is smaller. *)

Require Import Reals Lra Lia.
Open Scope R_scope.

Section LocalSensitivity.
  (** One candidate; the theorems hold for each. *)
  Context {X : Type} (near : X -> X -> Prop) (u : X -> R).
  Hypothesis near_sym : forall x y, near x y -> near y x.

  (** At most so many neighbour steps lead from one database to another. *)
  Inductive within : nat -> X -> X -> Prop :=
  | here n x : within n x x
  | step n x y z : near x y -> within n y z -> within (S n) x z.

  (** Changes of the score by one step, in databases within distance t of x. *)
  Definition change_near (x : X) (t : nat) (v : R) : Prop :=
    v = 0 \/ exists y z, within t x y /\ near y z /\ v = Rabs (u y - u z).

  (** The element local sensitivity at distance t (Farias et al. 2023, Definition 5). *)
  Definition is_local_sensitivity (L : X -> nat -> R) : Prop :=
    forall x t, is_lub (change_near x t) (L x t).

  (** Definition 6, with the y that the paper omits. *)
  Definition is_admissible (d : X -> nat -> R) : Prop :=
    (forall x t, 0 <= d x t)
    /\ (forall x y, near x y -> Rabs (u x - u y) <= d x 0%nat)
    /\ (forall x y t, near x y -> d y t <= d x (S t)).

  Theorem local_sensitivity_is_admissible L : is_local_sensitivity L -> is_admissible L.
  Proof.
    intros H. split; [|split].
    - intros x t. apply (H x t). left; reflexivity.
    - intros x y N. apply (H x 0%nat). right. exists x, y. split; [constructor|auto].
    - intros x y t N. apply (H y t). intros v [Z|[a [b [W [M E]]]]].
      + apply (H x (S t)). left; assumption.
      + apply (H x (S t)). right. exists a, b. split; [|auto].
        apply step with y; assumption.
  Qed.

  Lemma covers_at_any_distance d n x y :
    is_admissible d -> near x y -> Rabs (u x - u y) <= d x n.
  Proof.
    intros [P [C0 C1]]. revert x y. induction n as [|n IH]; intros x y N; [auto|].
    apply Rle_trans with (d y n); [|apply C1; assumption].
    rewrite Rabs_minus_sym. apply IH, near_sym, N.
  Qed.

  Lemma covers_within d n x y :
    is_admissible d -> within n x y -> forall z, near y z -> Rabs (u y - u z) <= d x n.
  Proof.
    intros H W. induction W as [n x|n x y z N W IH]; intros w M.
    - apply covers_at_any_distance; assumption.
    - apply Rle_trans with (d y n); [apply IH; assumption|]. apply H; assumption.
  Qed.

  Theorem no_admissible_function_is_smaller L d :
    is_local_sensitivity L -> is_admissible d -> forall x t, L x t <= d x t.
  Proof.
    intros HL Hd x t. apply (HL x t). intros v [Z|[y [z [W [N E]]]]].
    - subst v. apply Hd.
    - subst v. apply (covers_within d t x y); assumption.
  Qed.

  (** From a public distance on the bound may be used in its place. *)
  Theorem horizon_is_admissible d (bound : R) (horizon : nat) :
    0 <= bound -> (forall x t, d x t <= bound) -> is_admissible d ->
    is_admissible (fun x t => if Nat.ltb t horizon then d x t else bound).
  Proof.
    intros B C [P [C0 C1]]. split; [|split].
    - intros x t. destruct (Nat.ltb t horizon); auto.
    - intros x y N. destruct (Nat.ltb 0 horizon); [auto|].
      apply Rle_trans with (d x 0%nat); auto.
    - intros x y t N. destruct (Nat.ltb_spec (S t) horizon), (Nat.ltb_spec t horizon);
        auto; [lia|lra].
  Qed.
End LocalSensitivity.

Print Assumptions local_sensitivity_is_admissible.
Print Assumptions horizon_is_admissible.
Print Assumptions no_admissible_function_is_smaller.
