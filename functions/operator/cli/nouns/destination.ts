/** `onceward destination set | list | show | shadow | pause | resume | test | rotate-secret | delete` */

import type { Command } from 'commander';
import type * as z from 'zod/mini';
import { commandLine } from '../../../core/command-line.ts';
import {
  destinationAnswer,
  destinationCreatedAnswer,
  destinationDecidedAnswer,
  destinationDeletedAnswer,
  destinationPageAnswer,
  destinationTestedAnswer,
} from '../../contract/destinations.ts';
import { secretRotatedAnswer } from '../../contract/tokens.ts';
import { path } from '../client.ts';
import { answer, heading, pairs, shortTime, span, table } from '../print.ts';
import type { Shell } from '../shell.ts';
import { Stop } from '../stop.ts';
import {
  anyNumber,
  type Changing,
  type Common,
  carryOut,
  changing,
  type Deciding,
  deciding,
  decisionCall,
  get,
  looking,
  readAs,
  withoutSecret,
} from '../verb.ts';
import { lines, type Safe, said } from '../visible.ts';
import { changesOf } from './destination-diff.ts';
import { addSettings, type SettingOptions, settingsOf } from './destination-settings.ts';
import { addShadow } from './destination-shadow.ts';

interface RotateOptions extends Deciding {
  readonly overlapHours?: number;
  readonly signingSecret?: string;
}

type Destination = z.output<typeof destinationAnswer>;

export const addDestination = (program: Command, shell: Shell): void => {
  const noun = program.command('destination').description('where events go');
  addSettings(changing(noun, 'set <destination>', 'make a destination, or replace all of its settings')).action(
    (id: string, options: Changing & SettingOptions) => set(shell, id, options),
  );
  looking(noun, 'list', 'all of them, with state and reason').action((options: Common) => list(shell, options));
  looking(noun, 'show <destination>', 'settings, state, and what is parked there').action(
    (id: string, options: Common) => show(shell, id, options),
  );
  addShadow(noun, shell);
  deciding(noun, 'pause <destination>', 'hold what is due: it is parked in the ledger and spends no budget').action(
    (id: string, options: Deciding) => gate(shell, id, 'pause', options, 'What is due for it is parked from now on.'),
  );
  deciding(noun, 'resume <destination>', 'open it, and let go what is parked at its rate').action(
    (id: string, options: Deciding) => gate(shell, id, 'resume', options, 'What is parked is let go at its rate.'),
  );
  deciding(noun, 'test <destination>', 'send one harmless event there, through the normal way').action(
    (id: string, options: Deciding) => test(shell, id, options),
  );
  deciding(noun, 'rotate-secret <destination>', 'a new signing secret; the older ones sign beside it for a while')
    .option('--overlap-hours <hours>', 'so long (default: 24); 0 ends them at once', anyNumber)
    .option('--signing-secret <whsec>', 'your own secret (default: one is made and shown once)')
    .action((id: string, options: RotateOptions) => rotate(shell, id, options));
  deciding(
    noun,
    'delete <destination>',
    'end it; its id stays taken, and what is open there waits for a person',
  ).action((id: string, options: Deciding) => remove(shell, id, options));
};

// ---- look ---------------------------------------------------------------------------------------------------------

const parkedText = ({ parked }: Destination): string | undefined => {
  if (parked === undefined || parked.count === 0) return undefined;
  const left = parked.oldestLeftMs === undefined ? '' : `; the oldest can wait ${span(parked.oldestLeftMs)} more`;
  return `${parked.count}${parked.capped === true ? '+' : ''} parked${left}`;
};

type Unreadable = NonNullable<z.output<typeof destinationPageAnswer>['unreadable']>[number];

const list = async (shell: Shell, options: Common): Promise<void> => {
  const items: Destination[] = [];
  const unreadable: Unreadable[] = [];
  let next: string | undefined;
  do {
    const page = readAs(destinationPageAnswer, await get(shell, '/v1/destinations', { cursor: next }));
    items.push(...page.items);
    unreadable.push(...(page.unreadable ?? []));
    next = page.next;
  } while (next !== undefined);
  for (const { destination, reason } of unreadable) shell.err(said`${destination} cannot be read: ${reason}\n`);
  answer(shell, options, { items, ...(unreadable.length === 0 ? {} : { unreadable }) }, () => {
    if (items.length === 0) return said`There is no destination yet: onceward destination set --help`;
    return table(shell, items, [
      { title: 'DESTINATION', of: ({ destination }) => destination },
      { title: 'STATE', of: ({ state }) => state, state: true },
      { title: 'MODE', of: ({ mode }) => (mode === 'live' ? undefined : mode), state: true },
      { title: 'FAILURES', of: ({ failures }) => failures?.count, right: true },
      { title: 'SINCE', of: ({ since }) => shortTime(since) },
      { title: 'BY', of: ({ by }) => by },
      { title: 'REASON', of: ({ reason }) => reason },
      { title: 'NOTICES', of: ({ notices }) => (notices === true ? 'yes' : undefined) },
      { title: 'URL', of: ({ url }) => url },
    ]);
  });
};

const show = async (shell: Shell, id: string, options: Common): Promise<void> => {
  const body = await get(shell, path`/v1/destinations/${id}`);
  answer(shell, options, body, () => destinationText(shell, readAs(destinationAnswer, body)));
};

const destinationText = (shell: Shell, it: Destination): Safe =>
  lines(
    heading(shell, `destination ${it.destination}`),
    pairs(shell, {
      state: it.state,
      since: shortTime(it.since),
      by: it.by,
      reason: it.reason,
      until: shortTime(it.closedUntil ?? it.crowdedUntil),
      'next probe': shortTime(it.probeAt),
      failures: it.failures && `${it.failures.count} in a row since ${shortTime(it.failures.since)}`,
      parked: parkedText(it),
      url: it.url,
      'repeat safe': it.repeatSafe ? 'yes' : 'no: an attempt that may have arrived waits for a person',
      'key life': it.keyLifeHours === null ? 'for ever' : `${it.keyLifeHours} h`,
      schedule: it.schedule.length === 0 ? 'one attempt' : `${it.schedule.join(', ')} s`,
      'time-out': `${it.timeoutMs} ms`,
      rate: it.ratePerSecond === undefined ? undefined : `${it.ratePerSecond} a second`,
      concurrency: it.concurrency,
      'reject on': it.rejectOn.length === 0 ? undefined : it.rejectOn.join(', '),
      headers: Object.keys(it.headers).length === 0 ? undefined : Object.keys(it.headers).join(', '),
      'accept from queue': it.acceptFromQueue ? 'yes' : undefined,
      mode: it.mode,
      notices: it.notices === true ? 'yes: it is told what a person should know' : undefined,
      updated: shortTime(it.updatedAt),
    }),
  );

// ---- change -------------------------------------------------------------------------------------------------------

const present = async (shell: Shell, id: string): Promise<Destination | undefined> => {
  try {
    return readAs(destinationAnswer, await get(shell, path`/v1/destinations/${id}`));
  } catch (error) {
    if (error instanceof Stop && error.problem['code'] === 'not-found') return undefined;
    throw error;
  }
};

const setText = (id: string, before: Destination | undefined, body: Readonly<Record<string, unknown>>): Safe => {
  const settings = JSON.stringify(withoutSecret(body));
  if (before === undefined) return said`Destination ${id} is new, with these settings: ${settings}`;
  const changes = changesOf(before, body);
  if (changes === undefined) return said`Destination ${id} gets these settings, in place of all it has: ${settings}`;
  if (changes.length === 0) return said`Destination ${id} has these settings already: nothing changes.`;
  return lines(
    said`Destination ${id} gets new settings in place of all it has; what is not given goes back to its default:`,
    ...changes.map((change) => said`  ${change}`),
  );
};

const set = async (shell: Shell, id: string, options: Changing & SettingOptions): Promise<void> => {
  const body = settingsOf(options);
  await carryOut(shell, options, {
    plan: async () => setText(id, await present(shell, id), body),
    call: {
      ...{ method: 'PUT', path: path`/v1/destinations/${id}`, repeatable: true },
      body: { ...body, reason: options.reason },
      requestId: options.requestId ?? `cli-${shell.dice.id()}`,
    },
    show: (given) => {
      const made = readAs(destinationCreatedAnswer, given);
      const secret =
        made.signingSecret === undefined
          ? undefined
          : said`Signing secret, shown this once; the receiver checks signatures with it: ${made.signingSecret}`;
      return lines(destinationText(shell, made), secret);
    },
  });
};

const now = async (shell: Shell, id: string): Promise<Safe> => {
  const it = readAs(destinationAnswer, await get(shell, path`/v1/destinations/${id}`));
  const why = it.reason === undefined ? '' : ` (by ${it.by ?? 'nobody'}: ${it.reason})`;
  const waiting = parkedText(it);
  return said`Destination ${id} is ${it.state}${why}${waiting === undefined ? '' : `, ${waiting}`}.`;
};

const gate = (shell: Shell, id: string, verb: 'pause' | 'resume', options: Deciding, will: string): Promise<void> =>
  carryOut(shell, options, {
    plan: async () => lines(await now(shell, id), said`${will}`),
    call: decisionCall(shell, options, { method: 'POST', path: `${path`/v1/destinations/${id}`}/${verb}` }),
    show: (body) => {
      const it = readAs(destinationDecidedAnswer, body);
      return lines(said`Decision ${it.decision} is on record.`, destinationText(shell, it));
    },
  });

const test = (shell: Shell, id: string, options: Deciding): Promise<void> =>
  carryOut(shell, options, {
    plan: async () => lines(await now(shell, id), said`It gets one event of type onceward.test.`),
    call: decisionCall(shell, options, { method: 'POST', path: path`/v1/destinations/${id}/test` }),
    show: (body) => {
      const { event } = readAs(destinationTestedAnswer, body);
      return lines(
        said`Event ${event} is on its way. What becomes of it:`,
        said`  ${commandLine('delivery explain', [event, id])}`,
      );
    },
  });

const rotate = (shell: Shell, id: string, options: RotateOptions): Promise<void> => {
  const { overlapHours, signingSecret } = options;
  return carryOut(shell, options, {
    plan: async () =>
      overlapHours === 0
        ? said`Requests to ${id} are signed with a new secret alone: its receiver refuses them until it has it.`
        : said`Requests to ${id} are signed with a new secret and with the older ones, for ${overlapHours ?? 24} h.`,
    call: decisionCall(shell, options, {
      method: 'POST',
      path: path`/v1/destinations/${id}/rotate-secret`,
      body: { overlapHours, signingSecret },
    }),
    show: (body) => {
      const { signingSecret: made, live } = readAs(secretRotatedAnswer, body);
      const older = live.flatMap(({ endsAt }) => (endsAt === undefined ? [] : [said`An older one ends at ${endsAt}.`]));
      const first = made === undefined ? said`It signs from now on.` : said`Signing secret, shown this once: ${made}`;
      return lines(first, ...older);
    },
  });
};

const remove = (shell: Shell, id: string, options: Deciding): Promise<void> =>
  carryOut(shell, options, {
    plan: async () =>
      lines(
        await now(shell, id),
        said`Its id stays taken for good; what is open there ends quarantined as no-destination when it is next looked at.`,
      ),
    call: decisionCall(shell, options, { method: 'DELETE', path: path`/v1/destinations/${id}` }),
    show: (body) => {
      const gone = readAs(destinationDeletedAnswer, body);
      return said`Destination ${gone.destination} was deleted at ${gone.deletedAt} (decision ${gone.decision}).`;
    },
  });
