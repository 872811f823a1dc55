/** The partner acted and never answered: nobody can know, so it matters whether a repeat is harmless there. */
import { header } from '../stage.ts';
import { check, counts, type Story, told } from '../story.ts';

export const timeoutRepeatSafe: Story = {
  title: 'a time-out after the partner acted, repeat is safe',
  async play(stage) {
    const mailbox = await stage.destination('slow-safe', { repeatSafe: true, schedule: [1, 1], timeoutMs: 2_000 });
    stage.partner.script('slow-safe', [{ hang: true, act: true }, { status: 200 }]);
    await stage.submit('slow-safe-1', 'slow-safe');
    const shown = await stage.ended('slow-safe-1', 'slow-safe');
    const keys = new Set(mailbox.requests.map((request) => header(request, 'idempotency-key')));
    return told(
      mailbox,
      `${shown.status}, two calls and one effect`,
      ...counts(mailbox, 2, 1),
      check('the same key', keys.size === 1),
      check('recorded as delivered', shown.status === 'delivered'),
    );
  },
};

export const timeoutNotRepeatSafe: Story = {
  title: 'a time-out after the partner acted, repeat is not safe',
  async play(stage) {
    const mailbox = await stage.destination('slow-unsafe', { repeatSafe: false, schedule: [1, 1], timeoutMs: 2_000 });
    stage.partner.script('slow-unsafe', [{ hang: true, act: true }, { status: 200 }], { keys: 'ignores' });
    await stage.submit('slow-unsafe-1', 'slow-unsafe');
    const shown = await stage.ended('slow-unsafe-1', 'slow-unsafe');
    return told(
      mailbox,
      `${shown.status} / ${shown.reason ?? '-'}`,
      ...counts(mailbox, 1, 1),
      check('held for a person: in doubt', shown.status === 'quarantined' && shown.reason === 'in-doubt'),
    );
  },
};
