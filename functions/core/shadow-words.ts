/** A report of shadow mode in sentences: what was counted, what was left out of it, and what a difference may mean. */
import type { ShadowCompared, ShadowTally, ShadowWindow } from './shadow.ts';

export interface ShadowTold {
  readonly destination: string;
  readonly mode: 'live' | 'shadow';
  readonly window: ShadowWindow;
  readonly tally: ShadowTally;
  /** False: rows are left that nobody has looked at. */
  readonly complete: boolean;
  readonly compared?: ShadowCompared | undefined;
}

export const shadowWords = (told: ShadowTold): readonly string[] => {
  const { destination, mode, window, tally, complete } = told;
  const period = window.fromDay === window.toDay ? `on ${window.fromDay}` : `from ${window.fromDay} to ${window.toDay}`;
  return [
    `${deliveries(tally.wouldSend)} would have been sent to ${destination} ${period} (UTC).`,
    ...(complete ? [] : ['This is a part: more rows wait to be looked at, so nothing can be compared yet.']),
    ...(mode === 'live' ? [`${destination} is live now: what comes is sent, and is not counted here.`] : []),
    ...differenceIn(told),
    ...besides(tally),
  ];
};

const differenceIn = ({ compared, complete }: ShadowTold): readonly string[] => {
  if (compared === undefined || !complete) return [];
  const { same, given, difference, buckets } = compared;
  if (same) return [`You counted the same: ${given}.`];
  const apart = buckets.filter((one) => one.wouldSend !== one.given).length;
  const where = buckets.length === 0 ? '' : ` ${apart} of ${buckets.length} counts differ.`;
  if (difference === 0) {
    return [
      `You counted ${given} as well, but at other times.${where} What was sent close to a border may stand on its other side.`,
    ];
  }
  const says = `You counted ${given}: ${Math.abs(difference)} ${difference > 0 ? 'fewer' : 'more'}.${where}`;
  const means =
    difference > 0
      ? 'The other sender has missed some, or drops some on purpose that the producer hands over here.'
      : 'The other sender has sent some twice, or the producer has not handed over all, or has used one id for two things (event-conflict).';
  return [says, means];
};

const besides = (tally: ShadowTally): readonly string[] => {
  const { quarantined, cancelled, delivered, waiting, tests, unreadable, requests } = tally;
  const parts: readonly (readonly [number, string])[] = [
    [quarantined, 'quarantined: nothing would have been sent of them'],
    [cancelled, 'cancelled by a person'],
    [waiting, 'not over yet: look again when they are'],
    [delivered, 'really delivered, while the destination was live'],
    [tests, 'made by "destination test"'],
    [unreadable, 'not to be read by this version'],
  ];
  const left = parts.filter(([count]) => count > 0).map(([count, says]) => `${count} ${says}`);
  return [
    ...(left.length === 0 ? [] : [`Not in that number: ${left.join('; ')}.`]),
    ...(requests === 0 ? [] : [`${requests} real requests were made for these: it was not in shadow all the time.`]),
  ];
};

const deliveries = (count: number): string => (count === 1 ? '1 delivery' : `${count} deliveries`);
