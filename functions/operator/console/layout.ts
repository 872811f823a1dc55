/** The frame of every page: where one is, where one can go, who one is. */
import { html } from 'hono/html';
import { withHiddenShown } from '../../core/hidden.ts';
import { PAGE_ICON, PAGE_SCRIPT, STYLE_SHEET } from './assets.ts';
import { HOME, listPath } from './links.ts';
import type { Visitor } from './session.ts';
import { type Html, NOTHING, shown } from './text.ts';
import { clockText } from './times.ts';

export type Section = 'overview' | 'deliveries' | 'quarantine' | 'destinations' | 'redrives' | 'audit';

export interface Page {
  readonly title: string;
  readonly visitor: Visitor;
  readonly nowMs: number;
  readonly section?: Section;
  readonly main: Html;
  /** Seconds after which it is fetched anew where there is no script. */
  readonly againSec?: number;
}

const PLACES: readonly { section: Section; name: string; href: string; key: string }[] = [
  { section: 'overview', name: 'Overview', href: HOME, key: 'o' },
  { section: 'deliveries', name: 'Deliveries', href: listPath('open'), key: 'd' },
  { section: 'quarantine', name: 'Quarantine', href: `${HOME}/quarantine`, key: 'q' },
  { section: 'destinations', name: 'Destinations', href: `${HOME}/destinations`, key: 't' },
  { section: 'redrives', name: 'Redrives', href: `${HOME}/redrives`, key: 'r' },
  { section: 'audit', name: 'Audit', href: `${HOME}/audit`, key: 'a' },
];

export const bare = (title: string, body: Html, head: Html = NOTHING): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${withHiddenShown(title)} · Onceward</title>
<link rel="icon" href="${PAGE_ICON.path}">
<link rel="stylesheet" href="${STYLE_SHEET.path}">
<script src="${PAGE_SCRIPT.path}" defer></script>
${head}
</head>
<body>
${body}
</body>
</html>
`;

export const brand = html`<svg viewBox="0 0 24 24" aria-hidden="true"><g fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"><path d="M4 7h6M4 12h6M4 17h6"/><path d="M10 7c4 0 3 5 7 5M10 17c4 0 3-5 7-5"/></g><circle class="fill" cx="19" cy="12" r="2.600"/></svg> Onceward`;

export const render = ({ title, visitor, nowMs, section, main, againSec }: Page): Html =>
  bare(
    title,
    html`<a class="skip" href="#main">To the content</a>
<header class="top"><div>
<a class="brand" href="${HOME}">${brand}</a>
<nav class="main" aria-label="Main">${PLACES.map(
      (place) =>
        html`<a href="${place.href}" data-key="${place.key}"${place.section === section ? html` aria-current="page"` : ''}>${place.name}</a>`,
    )}</nav>
<form class="find" method="get" action="${HOME}/find" role="search"><input type="search" name="event" placeholder="Find an event id" aria-label="Find an event by its id" autocomplete="off" maxlength="1024"></form>
<div class="who"><span>${shown(visitor.name)}</span><form method="post" action="${HOME}/sign-out">${formMark(visitor)}<button>Sign out</button></form></div>
</div></header>
<main id="main">${main}</main>
<footer><span>${clockText(nowMs, nowMs)} UTC</span><span class="js-only">Press <kbd>?</kbd> for keys</span></footer>
${KEYS}`,
    againSec === undefined ? NOTHING : html`<noscript><meta http-equiv="refresh" content="${againSec}"></noscript>`,
  );

/** In every form: nobody else's page can know it. */
export const formMark = ({ formMark: mark }: Visitor): Html => html`<input type="hidden" name="mark" value="${mark}">`;

const KEYS = html`<template id="keys"><h1>Keyboard</h1><p></p><dl class="keys">${PLACES.map(
  ({ name, key }) => html`<dt><kbd>g</kbd> <kbd>${key}</kbd></dt><dd>${name}</dd>`,
)}<dt><kbd>/</kbd></dt><dd>Find an event</dd><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>Down and up in a table</dd><dt><kbd>Enter</kbd></dt><dd>Open</dd><dt><kbd>Esc</kbd></dt><dd>Close, or leave a field</dd></dl></template>`;

export interface Head {
  readonly title: Html | string;
  readonly crumb?: Html;
  readonly says?: Html | string;
  readonly acts?: readonly Html[];
}

export const head = ({ title, crumb, says, acts = [] }: Head): Html =>
  html`<div class="head"><div>${crumb === undefined ? '' : html`<p class="crumb">${crumb}</p>`}<h1>${title}</h1>${says === undefined ? '' : html`<p>${says}</p>`}</div>${acts.length === 0 ? '' : html`<div class="acts">${acts}</div>`}</div>`;

/** A change is a page of its own; with a script it opens in a dialog. */
export const act = (href: string, label: string, isPrimary = false): Html =>
  html`<a class="button${isPrimary ? ' primary' : ''}" href="${href}" data-dialog>${label}</a>`;

export const empty = (title: string, says: Html | string): Html =>
  html`<div class="card empty"><strong>${title}</strong><p>${says}</p></div>`;

export const pager = (next: string | undefined, first: string | undefined): Html =>
  next === undefined && first === undefined
    ? NOTHING
    : html`<nav class="more" aria-label="Pages">${first === undefined ? '' : html`<a class="button" href="${first}">First page</a>`}${next === undefined ? html`<small>The end of the list.</small>` : html`<a class="button" href="${next}" rel="next">Next page</a>`}</nav>`;

/** A column of a table that becomes a card a row on a narrow screen. */
export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => Html | string;
  readonly numeric?: boolean;
  /** On a narrow screen it stands by itself, without its title. */
  readonly lead?: boolean;
  /** Left out on a narrow screen. */
  readonly minor?: boolean;
  /** A box to tick. */
  readonly pick?: boolean;
}

export const table = <Row>(caption: string, rows: readonly Row[], columns: readonly Column<Row>[]): Html =>
  html`<div class="tablebox"><table class="wide"><caption class="skip">${caption}</caption><thead><tr>${columns.map(
    (column) =>
      column.pick ? html`<td></td>` : html`<th scope="col" class="${classesOf(column)}">${column.title}</th>`,
  )}</tr></thead><tbody>${rows.map((row) => html`<tr>${columns.map((column) => cell(column, column.of(row)))}</tr>`)}</tbody></table></div>`;

const cell = <Row>(column: Column<Row>, value: Html | string): Html =>
  html`<td class="${classesOf(column)}" data-label="${column.title}">${value === '' ? '' : html`<span>${value}</span>`}</td>`;

const classesOf = ({
  numeric,
  lead,
  minor,
  pick,
}: Pick<Column<never>, 'numeric' | 'lead' | 'minor' | 'pick'>): string =>
  [numeric ? 'num' : '', lead ? 'lead' : '', minor ? 'minor' : '', pick ? 'pick' : ''].join(' ').trim();
