/** The same event again and again: from the queue, and from the caller. */
import type { LocalQueue } from '../../transport.ts';
import { check, counts, type Story, told } from '../story.ts';

export const threePushesAtOnce = (queue: LocalQueue): Story => ({
  title: 'one event, pushed three times at once',
  async play(stage) {
    const mailbox = await stage.destination('pushed-thrice', { repeatSafe: true });
    queue.duplicateNext(3, 'thrice-1');
    await stage.submit('thrice-1', 'pushed-thrice');
    const shown = await stage.ended('thrice-1', 'pushed-thrice');
    await queue.idle();
    const claim = shown.journal.find((entry) => entry.kind === 'claimed');
    const copies = queue.pushes().filter((push) => claim?.cause === `push:${push.messageId}`);
    return told(
      mailbox,
      `${copies.length} pushes, ${shown.status}`,
      ...counts(mailbox, 1, 1),
      check('three pushes really came', copies.length === 3),
      check(
        'each push was acknowledged',
        copies.every((push) => push.status === 200),
      ),
      check('recorded as delivered', shown.status === 'delivered'),
      check('one claim in the journal', shown.journal.filter((entry) => entry.kind === 'claimed').length === 1),
    );
  },
});

export const submittedAgain: Story = {
  title: 'the caller submits it again',
  async play(stage) {
    const mailbox = await stage.destination('said-twice', { repeatSafe: true });
    const first = await stage.submit('twice-1', 'said-twice');
    const shown = await stage.ended('twice-1', 'said-twice');
    const second = await stage.submit('twice-1', 'said-twice');
    const other = await stage.submit('twice-1', 'said-twice', { payload: { other: true } });
    return told(
      mailbox,
      `${first.status}, ${second.status}; other content ${other.status}`,
      ...counts(mailbox, 1, 1),
      check('the same answer twice', first.status === 202 && JSON.stringify(first) === JSON.stringify(second)),
      check('other content under the same id is a conflict', other.status === 409),
      check('recorded as delivered', shown.status === 'delivered'),
    );
  },
};
