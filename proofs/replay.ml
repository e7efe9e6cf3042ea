(* Draws by the extracted program on bits that are given, one draw a line.

   A line holds numbers in binary, between blanks: rounds, bits, the first uniform number, the first
   outcome, bounds of all before and after, the number n of weights, and then for each round,
   the one before the first included, n lower bounds, n upper bounds and the bits that are read
   after it. Printed is the outcome, or a dash if the bits do not decide. *)

open Inversion

let z text =
  let digit p c = if c = '1' then XI p else XO p in
  match text with
  | "0" -> Z0
  | _ -> Zpos (Seq.fold_left digit XH (String.to_seq (String.sub text 1 (String.length text - 1))))

let rec of_positive = function XH -> 1 | XO p -> 2 * of_positive p | XI p -> 2 * of_positive p + 1
let of_z = function Z0 -> 0 | Zpos p -> of_positive p | Zneg p -> -of_positive p
let rec nat n = if n = 0 then O else S (nat (n - 1))

let () =
  try
    while true do
      let words = ref (String.split_on_char ' ' (input_line stdin)) in
      let next () = match !words with [] -> failwith "short" | w :: rest -> words := rest; z w in
      let rounds = of_z (next ()) in
      let bits = next () in
      let uniform = next () in
      let first = next () in
      let before = next () in
      let beyond = next () in
      let n = of_z (next ()) in
      let level i =
        let lows = List.init n (fun _ -> next ()) in
        let highs = List.init n (fun _ -> next ()) in
        let more = next () in
        (of_z bits lsl i, (of_bounds lows highs first before beyond, more)) in
      let levels = List.init (rounds + 1) level in
      let at b = List.assoc (of_z b) levels in
      match resume (nat rounds) (fun b -> fst (at b)) (fun b -> snd (at b)) uniform bits with
      | Some i -> print_endline (string_of_int (of_z i))
      | None -> print_endline "-"
    done
  with End_of_file -> ()
