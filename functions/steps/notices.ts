/**
 * Saying that there may be something to tell: one message, published after what it is about was committed.
 *
 *   nobody is marked, or this process has said it  --> nothing
 *   else --> one publish of a reference            --> the receiver looks what of it is true, and tells it
 *
 * It never fails whoever says it, and takes at most one read of the ledger (every 30 s, while there is something to say)
 * and one publish of two seconds. What a crash or a queue that is away leaves unsaid is said by whoever next meets it:
 * the push that comes again, the next failure, the next tick.
 */
import { noticeBody } from '../core/message.ts';
import { noticeKey, type Occasion } from '../core/notice.ts';
import { LedgerCorrupt, PortUnavailable, type World } from '../ports.ts';
import { notPublished } from './not-published.ts';

export type Raising = Pick<World, 'queue' | 'telemetry' | 'clock' | 'notices'>;

export const raise = async (world: Raising, occasions: readonly Occasion[]): Promise<void> => {
  for (const occasion of occasions) await raiseOne(world, occasion);
};

const raiseOne = async (world: Raising, occasion: Occasion): Promise<void> => {
  const key = noticeKey(occasion, world.clock.nowMs());
  if (world.notices === undefined || world.notices.wasRaised(key)) return;
  if (!(await isAnybodyMarked(world, world.notices))) return;
  if (await publishNotice(world, occasion, key)) world.notices.raised(key);
};

const isAnybodyMarked = async ({ telemetry }: Raising, notices: NonNullable<Raising['notices']>): Promise<boolean> => {
  try {
    return (await notices.marked()).length > 0;
  } catch (error) {
    if (!(error instanceof PortUnavailable) && !(error instanceof LedgerCorrupt)) throw error;
    telemetry.line('notice.not-raised', { detail: error.message });
    return false;
  }
};

/** Also for whoever may not read who is marked: then the receiver finds out that nobody is. */
export const publishNotice = async (
  { queue, telemetry }: Pick<World, 'queue' | 'telemetry'>,
  { notice }: Occasion,
  key: string,
): Promise<boolean> => {
  const published = await queue.publish({ key, body: noticeBody(notice), delaySec: 0 });
  if (published.kind === 'published') return true;
  notPublished(telemetry, { notice: notice.kind }, published);
  return false;
};
