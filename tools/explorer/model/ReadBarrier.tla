---- MODULE ReadBarrier ----
(* A replica set of MongoDB as far as the adapter relies on it: elections with terms, replication by pulling, rollback,
   the commit point as each server knows it; creations with an idempotency key, their repetitions, and reads.
   What the adapter promises: a read contains every creation that was acknowledged before it began (Fresh), one key stands
   for one pet (OnePet), and an acknowledged pet is never lost (Durable). docs/decisions/0016-reads-after-an-election.md *)
EXTENDS Integers, Sequences, FiniteSets, TLC
CONSTANTS
  Servers, Keys, MaxTerm, MaxLog,
  Reads,      \* "local": no barrier; "barrier": a confirmation in each term
  Replays,    \* how a repeated key is looked up: "local"; "fence": majority after the time of the rejected insertion
  OnePrimary  \* FALSE: a deposed primary may not know it yet
VARIABLES
  term, primary, log, commit,  \* of each server; commit: the length of the log that it knows to be committed
  known, confirmed,            \* the primary that the driver knows, and the one that was confirmed
  nextId, acked,               \* ids are times, too: both ascend; acked: the acknowledged pets
  read, replay,                \* the one in flight, or Idle
  stale                        \* whether a read has missed an acknowledged pet
vars == <<term, primary, log, commit, known, confirmed, nextId, acked, read, replay, stale>>
servers == <<term, primary, log, commit>>

Nobody == [s |-> "none", t |-> 0]
Idle == [on |-> Nobody, need |-> {}]
NoReplay == [key |-> "none", time |-> 0]
Majorities == {Q \in SUBSET Servers : 2 * Cardinality(Q) > Cardinality(Servers)}
Max(S) == CHOOSE x \in S : \A y \in S : y <= x
Min(a, b) == IF a < b THEN a ELSE b
LastTerm(l) == IF l = <<>> THEN 0 ELSE l[Len(l)].t
UpToDate(a, b) == LastTerm(a) > LastTerm(b) \/ (LastTerm(a) = LastTerm(b) /\ Len(a) >= Len(b))
IsPrefix(a, b) == Len(a) <= Len(b) /\ SubSeq(b, 1, Len(a)) = a
IndexesOf(l, k) == {i \in 1..Len(l) : l[i].k = k}
TimeOf(l, n) == IF n = 0 THEN 0 ELSE l[n].id
PetsOf(l, n) == {[k |-> l[i].k, id |-> l[i].id] : i \in 1..n}
\* Whether a primary has committed a write of its own term: then it knows every earlier commit, too.
HasOwn(s) == \E i \in 1..commit[s] : log[s][i].t = term[s]

Init ==
  /\ term = [s \in Servers |-> 0] /\ primary = [s \in Servers |-> FALSE]
  /\ log = [s \in Servers |-> <<>>] /\ commit = [s \in Servers |-> 0]
  /\ known = Nobody /\ confirmed = Nobody /\ nextId = 1 /\ acked = {}
  /\ read = Idle /\ replay = NoReplay /\ stale = FALSE

(* The servers *)

Elect(s, Q) ==
  LET t == Max({term[x] : x \in Servers}) + 1 IN
  /\ t <= MaxTerm /\ s \in Q /\ \A x \in Q : UpToDate(log[s], log[x])
  /\ term' = [x \in Servers |-> IF x \in Q THEN t ELSE term[x]]
  /\ primary' = [x \in Servers |-> IF x = s THEN TRUE ELSE IF x \in Q \/ OnePrimary THEN FALSE ELSE primary[x]]
  /\ UNCHANGED <<log, commit, known, confirmed, nextId, acked, read, replay, stale>>
Write(s, k) ==
  /\ Len(log[s]) < MaxLog /\ log' = [log EXCEPT ![s] = Append(@, [t |-> term[s], k |-> k, id |-> nextId])]
  /\ nextId' = nextId + 1
  /\ UNCHANGED <<term, primary, commit, known, confirmed, acked, read, replay, stale>>
\* The unique index rejects a key that the primary has, committed or not.
Insert(s, k) == primary[s] /\ IndexesOf(log[s], k) = {} /\ Write(s, k)
\* A new primary writes something of its own.
Noop(s) == primary[s] /\ ~(\E i \in 1..Len(log[s]) : log[s][i].t = term[s] /\ log[s][i].k = "noop") /\ Write(s, "noop")
\* b pulls an entry from a, or removes one that a does not have.
Replicate(a, b) ==
  /\ a # b /\ ~primary[b] /\ term[a] >= term[b] /\ UpToDate(log[a], log[b]) /\ log[a] # log[b]
  /\ log' = [log EXCEPT ![b] = IF IsPrefix(@, log[a]) THEN SubSeq(log[a], 1, Len(@) + 1) ELSE SubSeq(@, 1, Len(@) - 1)]
  /\ term' = [term EXCEPT ![b] = Max({@, term[a]})]
  /\ UNCHANGED <<primary, commit, known, confirmed, nextId, acked, read, replay, stale>>
\* A primary counts a write as committed when a majority in its term has it; only one of its own term, and what is before it.
Advance(s) ==
  /\ primary[s]
  /\ \E n \in (commit[s] + 1)..Len(log[s]) :
       /\ log[s][n].t = term[s]
       /\ \E Q \in Majorities : \A x \in Q : term[x] = term[s] /\ IsPrefix(SubSeq(log[s], 1, n), log[x])
       /\ commit' = [commit EXCEPT ![s] = n]
  /\ UNCHANGED <<term, primary, log, known, confirmed, nextId, acked, read, replay, stale>>
Learn(a, b) ==
  /\ a # b /\ ~primary[b]
  /\ LET n == Min(commit[a], Len(log[b])) IN
       n > commit[b] /\ IsPrefix(SubSeq(log[b], 1, n), log[a]) /\ commit' = [commit EXCEPT ![b] = n]
  /\ UNCHANGED <<term, primary, log, known, confirmed, nextId, acked, read, replay, stale>>

(* Creations *)

Acknowledge(pet) == pet \notin acked /\ acked' = acked \cup {pet}
\* Write concern majority: the insertion returns when the primary that made it has committed it.
Created(s, k) ==
  /\ primary[s]
  /\ \E i \in IndexesOf(log[s], k) : i <= commit[s] /\ log[s][i].t = term[s] /\ Acknowledge([k |-> k, id |-> log[s][i].id])
  /\ UNCHANGED <<servers, known, confirmed, nextId, read, replay, stale>>
\* A repetition is rejected by the index. Its response has the time of the last write in the log.
Reject(s, k) ==
  /\ replay = NoReplay /\ primary[s] /\ IndexesOf(log[s], k) # {}
  /\ replay' = [key |-> k, time |-> TimeOf(log[s], Len(log[s]))]
  /\ UNCHANGED <<servers, known, confirmed, nextId, acked, read, stale>>
\* The earlier pet is read. If it is not found, the creation is tried again: there is nothing to acknowledge.
Replay(s) ==
  /\ replay # NoReplay /\ primary[s]
  /\ Replays = "fence" => TimeOf(log[s], commit[s]) >= replay.time
  /\ LET n == IF Replays = "fence" THEN commit[s] ELSE Len(log[s])
         found == {pet \in PetsOf(log[s], n) : pet.k = replay.key} IN
       IF found = {} THEN UNCHANGED acked ELSE acked' = acked \cup found
  /\ replay' = NoReplay
  /\ UNCHANGED <<servers, known, confirmed, nextId, read, stale>>

(* Reads *)

See(s) ==
  /\ primary[s] /\ term[s] > known.t /\ known' = [s |-> s, t |-> term[s]]
  /\ UNCHANGED <<servers, confirmed, nextId, acked, read, replay, stale>>
\* A linearizable read succeeds.
Confirm ==
  /\ Reads = "barrier" /\ known # Nobody /\ known # confirmed
  /\ primary[known.s] /\ term[known.s] = known.t /\ HasOwn(known.s) /\ confirmed' = known
  /\ UNCHANGED <<servers, known, nextId, acked, read, replay, stale>>
Begin ==
  /\ read = Idle /\ known # Nobody /\ (Reads = "barrier" => known = confirmed)
  /\ read' = [on |-> known, need |-> acked]
  /\ UNCHANGED <<servers, known, confirmed, nextId, acked, replay, stale>>
End ==
  /\ read # Idle /\ primary[read.on.s] /\ read' = Idle
  /\ LET s == read.on.s IN \* the result counts only if the driver still knows the same primary
       stale' = (stale \/ (known = read.on /\ term[s] = read.on.t /\ ~(read.need \subseteq PetsOf(log[s], commit[s]))))
  /\ UNCHANGED <<servers, known, confirmed, nextId, acked, replay>>
Next ==
  \/ \E s \in Servers : (\E Q \in Majorities : Elect(s, Q)) \/ Noop(s) \/ Advance(s) \/ See(s) \/ Replay(s)
                        \/ \E k \in Keys : Insert(s, k) \/ Created(s, k) \/ Reject(s, k)
  \/ \E a, b \in Servers : Replicate(a, b) \/ Learn(a, b)
  \/ Confirm \/ Begin \/ End

Fresh == ~stale
OnePet == \A a, b \in acked : a.k = b.k => a.id = b.id
Durable == \A s \in Servers : (primary[s] /\ \A x \in Servers : term[x] <= term[s]) =>
             \A pet \in acked : pet \in PetsOf(log[s], Len(log[s]))
Symmetry == Permutations(Servers)
====
