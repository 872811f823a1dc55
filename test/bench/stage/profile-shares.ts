/**
 * Where processor time goes, by the profiler of the engine: every sample counts for the innermost frame of its stack whose
 * file says who it is. What Node does for somebody is theirs; what nobody known has asked for is Node's own.
 */
import { readFile } from 'node:fs/promises';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const OWNERS: readonly (readonly [owner: string, file: RegExp])[] = [
  ['HTTP client (undici)', /node_modules\/undici|^wasm:/],
  ['HTTP in (node-server, hono, node:http)', /node_modules\/(@hono|hono)|^node:_http/],
  ['sender, connector', /functions\/adapters\/sender/],
  ['zod', /node_modules\/zod/],
  ['codec, ledger, rows in memory', /functions\/adapters\/ledger/],
  ['signatures, hashes, journal', /functions\/core\/(journal|signature|push-signature|keys|trace|fingerprint)/],
  ['machine and other core', /functions\/core|jsonc-parser/],
  ['receiver, steps', /functions\//],
  ['sockets (node:net, streams)', /^node:(net|internal\/(streams|stream_base))/],
];
const COLLECTOR = 'garbage collector';
const NOBODY = 'Node itself';

/** Shares of the time in which it was not idle, largest first. */
export const profileShares = async (file: string): Promise<readonly (readonly [owner: string, share: number])[]> => {
  const { nodes, samples, timeDeltas }: Profile = JSON.parse(await readFile(file, 'utf8'));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const ownerOf = (sample: number): string | undefined => {
    const name = frames.get(sample)?.functionName;
    if (name === '(idle)') return undefined;
    if (name === '(garbage collector)') return COLLECTOR;
    for (let at: number | undefined = sample; at !== undefined; at = parents.get(at)) {
      const url = frames.get(at)?.url ?? '';
      // What turns the profiler on and off is not what is profiled.
      if (url.includes('test/bench/stage/child')) return undefined;
      const owner = OWNERS.find(([, owned]) => owned.test(url));
      if (owner !== undefined) return owner[0];
    }
    return NOBODY;
  };
  const spent = new Map<string, number>();
  for (const [at, sample] of samples.entries()) {
    const owner = ownerOf(sample);
    if (owner !== undefined) spent.set(owner, (spent.get(owner) ?? 0) + (timeDeltas[at] ?? 0));
  }
  const total = [...spent.values()].reduce((sum, one) => sum + one, 0);
  return [...spent].map(([owner, time]) => [owner, time / total] as const).toSorted(([, a], [, b]) => b - a);
};
