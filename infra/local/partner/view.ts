/** A mailbox as JSON, for people and for programs that are not in this process. */
import { isUtf8 } from 'node:buffer';
import type { Mailbox, ReceivedRequest } from './mailbox.ts';
import { HONOURS } from './personality.ts';

/** Older bodies than these fit in are left out of an answer; their size and hash are always there. */
const BODY_BYTES_SHOWN_MAX = 8 * 1_024 * 1_024;

/** `undefined` for a name that never received anything: the same form, empty. */
export const viewOf = (name: string, mailbox: Mailbox | undefined): object => {
  let bytes = 0;
  const newestFirst = (mailbox?.requests ?? []).toReversed().map((request) => {
    bytes += request.body.length;
    return requestView(request, bytes <= BODY_BYTES_SHOWN_MAX);
  });
  return {
    name,
    keys: (mailbox?.personality ?? HONOURS).keys,
    requestCount: mailbox?.requestCount ?? 0,
    effectCount: mailbox?.effectCount ?? 0,
    keysDropped: mailbox?.keysDropped ?? 0,
    requests: newestFirst.toReversed(),
    effects: (mailbox?.effects ?? []).map(({ key, ...effect }) => ({ key: key ?? null, ...effect })),
  };
};

const requestView = ({ mailbox: _, key, body, ...rest }: ReceivedRequest, isShown: boolean): object => ({
  ...rest,
  key: key ?? null,
  ...(isShown ? bodyView(body) : {}),
});

/** As text where it is text, so that a person can read it. */
const bodyView = (body: Uint8Array): object => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return isUtf8(bytes) ? { body: bytes.toString('utf8') } : { bodyBase64: bytes.toString('base64') };
};
