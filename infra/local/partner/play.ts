/** What a mailbox plays to one request: what is answered, how the answer travels, and whether the effect happened. */

/** What the application behind the partner answers, before anything happens to it on its way. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

/** How the reply travels. Every one of them reads the whole request first. */
export type Manner =
  | { readonly kind: 'plain' }
  /** Never answers; over when the client gives up or the partner closes. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset'; readonly when: 'before-answer' | 'after-status' }
  /** One byte at a time: of the body, or of the whole answer from its status line on. */
  | { readonly kind: 'drip'; readonly everyMs: number; readonly from: 'head' | 'body' }
  /** These bytes in place of an answer. */
  | { readonly kind: 'garbage'; readonly text: string }
  /** Answers, promises to keep the connection, and closes it. */
  | { readonly kind: 'close-keep-alive' };

export interface Play {
  readonly reply: Reply;
  readonly manner: Manner;
  readonly delayMs: number;
  /** Is the effect carried out, ahead of any misbehaviour? */
  readonly acts: boolean;
}

const TEXT = { 'content-type': 'text/plain; charset=utf-8' };

export const replyOf = (status: number, body: string): Reply => ({ status, headers: TEXT, body });

/** What a mailbox without a script plays. */
export const WELL_BEHAVED: Play = { reply: replyOf(200, 'ok'), manner: { kind: 'plain' }, delayMs: 0, acts: true };

/** For the memory of a mailbox: what the client was played, in a few words. */
export const shown = (reply: Reply, manner: Manner): string => {
  switch (manner.kind) {
    case 'plain':
      return `status ${reply.status}`;
    case 'drip':
      return `status ${reply.status}, drip from ${manner.from}`;
    case 'close-keep-alive':
      return `status ${reply.status}, connection closed`;
    case 'reset':
      return manner.when === 'after-status' ? `status ${reply.status}, then reset` : 'reset before the answer';
    case 'hang':
    case 'garbage':
      return manner.kind;
  }
};
