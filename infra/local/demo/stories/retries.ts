/** A destination that says later, fails, fails for ever, or is gone. */
import { header } from '../stage.ts';
import { check, counts, type Story, told } from '../story.ts';

const same = (values: readonly string[]): boolean => new Set(values).size === 1;

export const retryAfter: Story = {
  title: '429 with Retry-After: 2',
  async play(stage) {
    const mailbox = await stage.destination('busy', { repeatSafe: true, schedule: [1, 1] });
    stage.partner.script('busy', [{ status: 429, headers: { 'retry-after': '2' } }, { status: 200 }]);
    await stage.submit('busy-1', 'busy');
    const shown = await stage.ended('busy-1', 'busy');
    const [first, second] = mailbox.requests;
    const waitedMs = (second?.atMs ?? 0) - (first?.atMs ?? 0);
    const answered = shown.journal.find((entry) => entry.class === 'throttled');
    const plannedMs = Date.parse(answered?.nextAt ?? '') - Date.parse(answered?.at ?? '');
    return told(
      mailbox,
      `${shown.status} after ${(waitedMs / 1_000).toFixed(1)} s`,
      ...counts(mailbox, 2, 1),
      check('nothing before two seconds', waitedMs >= 2_000),
      check('planned as asked, not by the own schedule of one second', plannedMs >= 2_000),
      check('recorded as delivered', shown.status === 'delivered'),
    );
  },
};

export const thirdTime: Story = {
  title: '500, 500, then 200',
  async play(stage) {
    const mailbox = await stage.destination('shaky', { repeatSafe: true, schedule: [1, 1, 1] });
    stage.partner.script('shaky', [{ status: 500 }, { status: 500 }, { status: 200 }]);
    await stage.submit('shaky-1', 'shaky');
    const shown = await stage.ended('shaky-1', 'shaky');
    const all = mailbox.requests;
    return told(
      mailbox,
      `${shown.status} at attempt ${shown.attempts}`,
      ...counts(mailbox, 3, 1),
      check('delivered at attempt 3', shown.status === 'delivered' && shown.attempts === 3),
      check('the same Idempotency-Key each time', same(all.map((request) => header(request, 'idempotency-key')))),
      check('the same webhook-id each time', same(all.map((request) => header(request, 'webhook-id')))),
      check('the same bytes each time', same(all.map((request) => request.sha256))),
      check(
        'a fresh timestamp each time',
        new Set(all.map((request) => header(request, 'webhook-timestamp'))).size === 3,
      ),
    );
  },
};

export const alwaysFails: Story = {
  title: 'always 500',
  async play(stage) {
    const mailbox = await stage.destination('broken', { repeatSafe: true, schedule: [1, 1] });
    stage.partner.script('broken', [{ status: 500 }]);
    await stage.submit('broken-1', 'broken');
    const shown = await stage.ended('broken-1', 'broken');
    return told(
      mailbox,
      `${shown.status} / ${shown.reason ?? '-'} after ${shown.attempts} of ${shown.budget}`,
      ...counts(mailbox, 3, 0),
      check('held for a person: budget', shown.status === 'quarantined' && shown.reason === 'budget'),
      check('exactly the budget', shown.attempts === shown.budget && shown.budget === 3),
    );
  },
};

export const gone: Story = {
  title: '410 Gone',
  async play(stage) {
    const mailbox = await stage.destination('moved-away', { repeatSafe: true, schedule: [1, 1] });
    stage.partner.script('moved-away', [{ status: 410 }]);
    await stage.submit('moved-1', 'moved-away');
    const shown = await stage.ended('moved-1', 'moved-away');
    const { body } = await stage.call('GET', '/v1/destinations/moved-away');
    const paused = (body as { state?: string }).state === 'paused';
    return told(
      mailbox,
      `${shown.status} / ${shown.reason ?? '-'}`,
      ...counts(mailbox, 1, 0),
      check('stopped at once', shown.status === 'quarantined' && shown.reason === 'gone'),
      check('the destination is paused', paused),
    );
  },
};
