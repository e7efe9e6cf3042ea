(* Draws by the extracted programs on bits that are given, one draw a line.

   A line holds numbers in binary, between blanks, after the name of the program. After
   "inversion": rounds, bits, the first uniform number, the first outcome, bounds of all before and
   after, the number n of weights, and then for each round, the one before the first included, n
   lower bounds, n upper bounds and the bits that are read after it. After "exponential" or
   "gumbel", the noise: the bits that are read at first, how often they can be doubled, n, k, the
   scale as a fraction, n scores (minus a best one, so that none is above 0, without their signs)
   and n numbers of so many bits.

   Printed are the outcomes, or a dash if the bits do not decide. *)

open Samplers

let z text =
  let digit p c = if c = '1' then XI p else XO p in
  match text with
  | "0" -> Z0
  | _ -> Zpos (Seq.fold_left digit XH (String.to_seq (String.sub text 1 (String.length text - 1))))

let rec of_positive = function XH -> 1 | XO p -> 2 * of_positive p | XI p -> 2 * of_positive p + 1
let of_z = function Z0 -> 0 | Zpos p -> of_positive p | Zneg p -> -of_positive p
let rec nat n = if n = 0 then O else S (nat (n - 1))
let rec of_nat = function O -> 0 | S n -> 1 + of_nat n
let positive = function Zpos p -> p | _ -> failwith "not positive"
let negated = function Zpos p -> Zneg p | n -> n

let inversion next =
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
  let outcome = resume (nat rounds) (fun b -> fst (at b)) (fun b -> snd (at b)) uniform bits in
  Option.map (fun i -> [of_z i]) outcome

let noise bound next =
  let initial = next () in
  let depth = nat (of_z (next ())) in
  let n = of_z (next ()) in
  let k = nat (of_z (next ())) in
  let over = next () in
  let under = next () in
  let scores = Array.init n (fun _ -> negated (next ())) in
  let words = List.init n (fun _ -> next ()) in
  let scale = { qnum = over; qden = positive under } in
  let number i = scores.(of_nat i) in
  Option.map (List.map of_nat) (drawn (bound number scale) initial depth (nat n) k words)

let () =
  try
    while true do
      let words = ref (String.split_on_char ' ' (input_line stdin)) in
      let word () =
        match !words with [] -> failwith "short" | w :: rest -> words := rest; w in
      let next () = z (word ()) in
      let outcomes =
        match word () with
        | "inversion" -> inversion next
        | "exponential" -> noise exponential_bound next
        | "gumbel" -> noise gumbel_bound next
        | _ -> failwith "no such program" in
      match outcomes with
      | Some drawn -> print_endline (String.concat " " (List.map string_of_int drawn))
      | None -> print_endline "-"
    done
  with End_of_file -> ()
