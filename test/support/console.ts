/** A visitor of the console without a browser and without a script: keeps the cookie, reads forms, sends them. */

import { toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import type { Right, Token } from '../../functions/core/items.ts';
import { tokenHash } from '../../functions/http/auth.ts';
import type { TestWorld } from './world.ts';

export const ORIGIN = 'https://ops.example';
const FORM = 'application/x-www-form-urlencoded';

export interface Seen {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Where it leads. */
  readonly location: string | undefined;
}

export interface Form {
  readonly action: string;
  /** As a browser would send them without a hand on any: hidden ones, what is typed in, what is ticked. */
  readonly fields: readonly (readonly [string, string])[];
}

export type Fields = readonly (readonly [string, string])[];

export interface Visitor {
  cookie: string | undefined;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Seen>;
  /** As a page of ours would send it, unless the headers say otherwise. */
  post(path: string, fields: Fields, headers?: Readonly<Record<string, string>>): Promise<Seen>;
  /** Fills in the first form of a page that goes to such an address, and sends it. */
  submit(page: Seen, to: string, fields: Readonly<Record<string, string>>): Promise<Seen>;
}

/** A token with these rights, besides those of the world. */
export const tokenWith = (world: TestWorld, name: string, rights: readonly Right[]): string => {
  const text = `token-of-${name}-0123456789`;
  const token: Token = {
    item: 'token',
    version: 1,
    hash: tokenHash(text),
    name,
    rights,
    createdAtMs: world.clock.nowMs(),
    carried: {},
  };
  world.store.poke(toItem(token));
  return text;
};

export const visitorOf = (world: TestWorld, origin: string = ORIGIN): Visitor => {
  const ask = async (path: string, init: RequestInit): Promise<Seen> => {
    const headers = new Headers(init.headers);
    if (visitor.cookie !== undefined) headers.set('cookie', visitor.cookie);
    const response = await world.apps.operator.request(`${origin}${path}`, { ...init, headers });
    const set = response.headers.get('set-cookie');
    if (set !== null) visitor.cookie = /Max-Age=0/.test(set) ? undefined : set.split(';')[0];
    const location = response.headers.get('location') ?? undefined;
    return { status: response.status, text: await response.text(), headers: response.headers, location };
  };
  const visitor: Visitor = {
    cookie: undefined,
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, fields, headers = { origin }) =>
      ask(path, {
        method: 'POST',
        headers: { 'content-type': FORM, ...headers },
        body: new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString(),
      }),
    submit: (page, to, fields) => {
      const form = formsIn(page.text).find(({ action }) => action === to);
      if (form === undefined) throw new Error(`no form to ${to}: ${page.status} ${page.text.slice(0, 2_000)}`);
      const kept = form.fields.filter(([name]) => fields[name] === undefined);
      return visitor.post(form.action, [...kept, ...Object.entries(fields)]);
    },
  };
  return visitor;
};

export const signedIn = async (world: TestWorld, token: string, origin?: string): Promise<Visitor> => {
  const visitor = visitorOf(world, origin);
  const answer = await visitor.post('/console/sign-in', [['token', token]]);
  if (answer.status !== 303) throw new Error(`not signed in: ${answer.status}`);
  return visitor;
};

// ---- reading pages ------------------------------------------------------------------------------------------------

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

export const unescaped = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '');

const attributesIn = (tag: string): ReadonlyMap<string, string> =>
  new Map([...tag.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)].map(([, name = '', value = '']) => [name, unescaped(value)]));

export const formsIn = (text: string): readonly Form[] =>
  [...text.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, head = '', body = '']) => ({
    action: attributesIn(head).get('action') ?? '',
    fields: [...body.matchAll(/<input\b([^>]*)>/g)].flatMap(([, tag = '']) => {
      const input = attributesIn(tag);
      const name = input.get('name');
      const isBox = input.get('type') === 'checkbox' || input.get('type') === 'radio';
      if (name === undefined || (isBox && !input.has('checked'))) return [];
      return [[name, input.get('value') ?? (isBox ? 'on' : '')] as const];
    }),
  }));

export const linksIn = (text: string): readonly string[] =>
  [...text.matchAll(/\bhref="([^"]*)"/g)].map(([, href = '']) => unescaped(href));

/** What a reader sees. */
export const wordsIn = (text: string): string =>
  unescaped(
    text
      .replace(/<(script|style|head)\b.*?<\/\1>/gs, '')
      .replace(/<\/?(?:bdi|span|a|b|small|strong|code)\b[^>]*>/g, '')
      .replace(/<[^>]*>/g, ' '),
  ).replace(/\s+/g, ' ');
