/** The look-up of one attempt: every answer is judged, and only what was judged is handed on. */

import { lookup as systemResolver } from 'node:dns/promises';
import { isIP } from 'node:net';

import { isAddressLiteral, judgeAddress, type TargetPolicy } from '../../core/target.ts';
import { untilAborted } from './until-aborted.ts';

/** All addresses of a name, in the order in which they should be tried. Rejects when there is no answer. */
export type Lookup = (host: string) => Promise<readonly string[]>;

export type Resolved =
  | { readonly kind: 'vetted'; readonly addresses: readonly string[] }
  | { readonly kind: 'blocked'; readonly detail: string }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A name with two hundred addresses costs two hundred judgements, but not two hundred connects. */
const TRIED_PER_FAMILY_MAX = 3;

/**
 * The resolver of the system, hosts file included: whatever it says is judged before it is used. It cannot be stopped;
 * an attempt whose time is over leaves it behind.
 */
export const systemLookup: Lookup = async (host) =>
  (await systemResolver(host, { all: true })).map((answer) => answer.address);

/** One look-up. A single unfit address among the answers blocks the attempt: such a name is not to be trusted. */
export const resolveVetted = async (
  host: string,
  policy: TargetPolicy,
  lookup: Lookup,
  signal: AbortSignal,
): Promise<Resolved> => {
  let answers: readonly string[];
  try {
    // A literal never reaches a resolver, here or in node:net, so it is judged as its own answer.
    answers = isAddressLiteral(host) ? [host] : await untilAborted(lookup(host), signal);
  } catch (error) {
    return { kind: 'failed', error };
  }
  if (answers.length === 0) return { kind: 'failed', error: new Error('the name has no address') };
  for (const address of answers) {
    const verdict = judgeAddress(address, policy);
    if (verdict.kind === 'denied') return { kind: 'blocked', detail: verdict.reason };
  }
  return { kind: 'vetted', addresses: fewOfEachFamily(answers) };
};

const fewOfEachFamily = (addresses: readonly string[]): readonly string[] => {
  const taken: Record<number, number> = {};
  return [...new Set(addresses)].filter((address) => {
    const family = isIP(address);
    taken[family] = (taken[family] ?? 0) + 1;
    return taken[family] <= TRIED_PER_FAMILY_MAX;
  });
};
