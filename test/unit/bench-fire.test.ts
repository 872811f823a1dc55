/** The faults of the bench of duplicates: as many as it says, the same for everybody, and counted where they hurt. */
import { describe, expect, it } from 'vitest';
import { countsOf, fireOf, killAt } from '../bench/duplicates/fire.ts';

const fire = fireOf(7, 20_000, 20);

describe('the fire', () => {
  it('brings 30 % of the messages twice, half of the copies at once and none later than two seconds', () => {
    const copies = fire.events.flatMap((event) => fire.copyLaterMs(event) ?? []);
    expect(copies.length / fire.events.length).toBeCloseTo(0.3, 1);
    expect(copies.filter((ms) => ms === 0).length / copies.length).toBeCloseTo(0.5, 1);
    expect(Math.max(...copies)).toBeLessThanOrEqual(2_000);
  });

  it('loses 5 % of the acknowledgements, and not those of one event for ever', () => {
    const lost = fire.events.filter((event) => fire.losesAck(event, 1));
    expect(lost.length / fire.events.length).toBeCloseTo(0.05, 2);
    const again = lost.filter((event) => fire.losesAck(event, 2));
    expect(again.length / lost.length).toBeLessThan(0.1);
  });

  it('kills as often as it says, over the whole run', () => {
    const at = fire.kills.map(({ effects }) => effects);
    expect(at).toHaveLength(20);
    expect(at).toStrictEqual(at.toSorted((a, b) => a - b));
    expect(at[0]).toBeGreaterThan(0);
    expect(at.at(-1)).toBeLessThan(20_000);
  });

  it('is the same for everybody by its seed, and another by another', () => {
    const faults = ({ events, copyLaterMs, losesAck }: typeof fire) =>
      events.slice(0, 200).map((event) => [copyLaterMs(event), losesAck(event, 1), losesAck(event, 2)]);
    expect(faults(fireOf(7, 20_000, 20))).toStrictEqual(faults(fire));
    expect(faults(fireOf(8, 20_000, 20))).not.toStrictEqual(faults(fire));
  });
});

describe('what is counted at the destination', () => {
  it('is every effect beyond the first of its event', () => {
    const counts: Readonly<Record<string, number>> = { 'event-0': 1, 'event-1': 3, 'event-2': 0, 'event-3': 2 };
    const effectsOf = (event: string): number => counts[event] ?? 0;
    expect(countsOf(fireOf(7, 4, 0), { effects: 6, effectsOf })).toStrictEqual({ effects: 6, duplicates: 3 });
  });

  it('drives the kills: none before its time, each once', async () => {
    const draws: number[] = [];
    let tell: (effects: number) => void = () => {};
    const victims = { kill: (draw: number) => void draws.push(draw) };
    const small = fireOf(7, 100, 2);
    const [first, second] = small.kills.map(({ effects }) => effects);
    const timers: (() => void)[] = [];
    killAt(small, { onEffect: (hook) => (tell = hook) }, victims, (run) => void timers.push(run));
    for (let effects = 1; effects <= 100; effects += 1) {
      tell(effects);
      for (const run of timers.splice(0)) run();
      expect(draws).toHaveLength(Number(effects >= (first ?? 0)) + Number(effects >= (second ?? 0)));
    }
    expect(draws).toStrictEqual(small.kills.map(({ draw }) => draw));
  });
});
