/** Histories that have failed once, each with what it was. They run first. */

export interface FailedSeed {
  readonly seed: string;
  readonly history: number;
  readonly was: string;
}

export const FAILED_SEEDS: readonly FailedSeed[] = [
  {
    seed: 'explore5',
    history: 1477,
    was: 'a whole event died on the queue when it stood for one of its destinations only; the simulator did not wait for its rescue',
  },
  {
    seed: 'recorded-a',
    history: 9771,
    was: 'a late write of a dead planner filled a hole in the plan of an operation after its end; it was counted as one over the limit',
  },
  {
    seed: 'recorded-c',
    history: 2458,
    was: 'an operation woke a row again after all had come to rest, and the simulator had stopped looking',
  },
  {
    seed: 'explore8',
    history: 2857,
    was: 'one request of a person came twice; the slower one published its plan behind the claim that the faster one had led to, which does no harm',
  },
  {
    seed: 'recorded-g',
    history: 2585,
    was: 'a sweep by a clock that was five minutes ahead died with its lease; the stated bound holds for clocks inside the margin',
  },
  {
    seed: 'recorded-g',
    history: 7851,
    was: 'a sweep that had stood still published its old plan for one destination of an event; its look at the other one was taken for a new plan',
  },
  {
    seed: 'recorded-g',
    history: 49371,
    was: 'a worker claimed in the slot of the rate that it had seen, behind another one whose attempt in that slot was withheld; one request went out',
  },
  {
    seed: 'key',
    history: 26756,
    was: 'a worker stood still between gate and claim until its slot had passed; its attempt was withheld, as it should be',
  },
  {
    seed: 'recorded-g',
    history: 102563,
    was: "a gateway's answer left no doubt behind; when a repeat ceased to be safe and the key was forgotten, the request went out again unasked",
  },
  {
    seed: '829eef85133985b9f5a60c1d6089ab69c8153a88',
    history: 3571,
    was: 'a clock stepped back between a decision and its write, and the write was judged by the later clock',
  },
  {
    seed: 'recorded-i',
    history: 8018,
    was: 'a worker died with a place of its destination, and its clock, by which the lease of the place ends, was five minutes ahead',
  },
  {
    seed: 'recorded-i',
    history: 21876,
    was: 'a worker of ours left a gate alone that newer code had written, as it should; the newer code has the say there',
  },
  {
    seed: 'bench',
    history: 630,
    was: 'a row was parked as the ledger went away, so nobody could look at the gate again; an outage stood nowhere in the log',
  },
  {
    seed: 'bench',
    history: 2717,
    was: 'a clock stepped back between the decision to take a place whose lease was over and its write',
  },
  {
    seed: 'bef4b1631acad98a0d9194ae89d89ceaf7e2fbda',
    history: 8621,
    was: 'a fault of the product: a sweep ahead found a claim lapsed, a worker behind found it live, and the next look was a quarter of an hour off',
  },
  {
    seed: 'recorded-j',
    history: 12808,
    was: 'a sweep stood still between its publish and its write; the one in its place met the same key, whose message was days late',
  },
  {
    seed: 'recorded-j',
    history: 36817,
    was: 'a clock that was five minutes ahead was set right between a slot of the rate and its claim',
  },
  {
    seed: 'recorded-j',
    history: 128067,
    was: 'a fault of the product: the probe of a breaker held no place, so a resume beside it let one request too many through',
  },
  {
    seed: 'recorded-j',
    history: 157879,
    was: 'the simulator played only ticks that could not bear the number of a rescue, as the schedule fired a little late in the minute',
  },
  {
    seed: 'recorded-j',
    history: 150106,
    was: 'the same at the end of the minute, by clocks that were ahead',
  },
  {
    seed: 'recorded-j',
    history: 285429,
    was: 'a sweep stood still between its publish and its write until the quiet time; the message of that publish had been lost',
  },
  {
    seed: 'recorded-j',
    history: 983211,
    was: 'an operation asked a second time for the claim of a row that had been claimed since; its row has a plan of its own',
  },
  {
    seed: 'recorded-j',
    history: 836741,
    was: 'a sweep stood still between a read and its answer, and published by it under the key of its first publish',
  },
  {
    seed: 'recorded-l',
    history: 354748,
    was: 'newer code made the row one of a later format between its read and the probe that was taken for it',
  },
];
