/** Who did what, when and why: decisions of people, and operations over many deliveries. */
import { html } from 'hono/html';
import { listDecisions } from '../commands/decision-list.ts';
import { listRedrives } from '../commands/redrives.ts';
import { decisionTable } from './decision-table.ts';
import { type Frame, page } from './frame.ts';
import { empty, head, pager } from './layout.ts';
import { HOME, withQuery } from './links.ts';
import { cursorIn, PAGE_ROWS } from './lists.ts';
import { operationTable, unreadOperations } from './operation-table.ts';
import { counted, type Html, NOTHING } from './text.ts';

const PATH = `${HOME}/audit`;
const OPERATIONS_SHOWN = 5;
const NONE = 'Nobody has paused, redriven, resolved or cancelled anything yet.';
const NONE_HERE = 'None of these on this page; there may be older ones.';

const FILTERS = ['destination', 'event', 'actor'] as const;

type Wanted = { readonly [name in (typeof FILTERS)[number]]?: string };

const wantedIn = (context: Frame['context']): Wanted =>
  Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = context.req.query(name);
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );

const filterOf = (wanted: Wanted): Html =>
  html`<form class="filter" method="get" action="${PATH}">${FILTERS.map(
    (name) =>
      html`<input name="${name}" aria-label="Only this ${name}" placeholder="${name}" value="${wanted[name] ?? ''}" maxlength="1024">`,
  )}<button>Show</button></form>`;

export const showAudit = async (frame: Frame): Promise<Response> => {
  const { world, context } = frame;
  const cursor = cursorIn(context);
  const wanted = wantedIn(context);
  const [decisions, operations] = await Promise.all([
    listDecisions(world, { limit: PAGE_ROWS, cursor, ...wanted }),
    listRedrives(world, OPERATIONS_SHOWN, undefined),
  ]);
  const nowMs = world.clock.nowMs();
  const next = decisions.next === undefined ? undefined : withQuery(PATH, { ...wanted, cursor: decisions.next });
  const main = html`${head({
    title: 'Audit',
    says: 'Every decision of a person has a name and was written down before it acted, with its reason; a change of settings may have none.',
  })}
<section><h2>Decisions</h2>${filterOf(wanted)}${
    decisions.items.length === 0
      ? empty('No decisions', Object.keys(wanted).length === 0 ? NONE : NONE_HERE)
      : decisionTable(decisions.items, nowMs)
  }${
    decisions.unreadable === 0
      ? NOTHING
      : html`<div class="note bad"><p>${counted(decisions.unreadable, 'decision')} of this page cannot be read here: written by newer code, or broken.</p></div>`
  }${pager(next, cursor === undefined ? undefined : withQuery(PATH, wanted))}</section>
<section><h2>Latest operations</h2>${unreadOperations(operations)}${
    operations.items.length === 0
      ? empty('No operations', 'A redrive over many deliveries stands here, with what it found and did.')
      : operationTable(operations.items, nowMs)
  }</section>
<section class="card"><h2>Was anything altered?</h2><p>Each delivery's journal is a chain of hashes over its own lines. The page of an event follows those of its deliveries, and holds each against its row; <code>onceward audit verify</code> does it for a destination, or for everything, and against heads that were logged before.</p>
<form class="filter" method="get" action="${HOME}/find"><input name="event" aria-label="Event to check" placeholder="Event" maxlength="1024"><button>Check</button></form></section>`;
  return page(frame, { title: 'Audit', section: 'audit', main });
};
