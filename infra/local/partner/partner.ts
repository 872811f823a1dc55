/**
 * The partner: a destination that misbehaves on request and remembers what it received.
 *
 *   POST   /partner/<name>          a webhook for the mailbox; `?status=500`, `?delayMs=...`: quick play
 *   GET    /partner/<name>          what it received, and which effects that had
 *   DELETE /partner/<name>          forgets that, and the script
 *   PUT    /partner/<name>/script   what it plays from now on
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Mailbox } from './mailbox.ts';
import { BOUNDS, type Bounds, isMailboxName, Mailboxes, NAME_RULE } from './mailboxes.ts';
import type { PartnerClock } from './perform.ts';
import { type AnsweredHook, PREFIX, type RequestHook, serve } from './routes.ts';
import { parseScript, type Settings, type Step } from './script.ts';

export interface Partner {
  /** Takes the request if its path lies under `/partner/`; else returns false and has touched nothing. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
  /** Made if it is not there. Throws on a name that a path does not carry as it is, and when all mailboxes are in use. */
  mailbox(name: string): Mailbox;
  /** What the mailbox plays from its next request on; settings left out stay. Throws on a script that makes no sense. */
  script(name: string, steps: readonly Step[], settings?: Settings): Mailbox;
  /** Called when a request has been read and its effect has happened; the answer waits for it. Returns how to end it. */
  onRequest(hook: RequestHook): () => void;
  /** Called when the answer has been handed to the system, or the connection is gone. Returns how to end it. */
  onAnswered(hook: AnsweredHook): () => void;
  /** Cuts every exchange under way, lets waiters go, and cuts what comes after. */
  close(): Promise<void>;
}

export interface PartnerOptions {
  readonly clock: PartnerClock;
  readonly bounds?: Bounds;
}

export const createPartner = ({ clock, bounds = BOUNDS }: PartnerOptions): Partner => {
  const mailboxes = new Mailboxes(bounds);
  const underway = new Map<ServerResponse, Socket>();
  const requestHooks = new Set<RequestHook>();
  const answeredHooks = new Set<AnsweredHook>();
  const parts = { clock, mailboxes, requestHooks, answeredHooks };
  let isClosed = false;

  const mailbox = (name: string): Mailbox => {
    if (!isMailboxName(name)) throw new Error(`"${name}" cannot name a mailbox: a name is ${NAME_RULE}`);
    const opened = mailboxes.open(name);
    if (opened === undefined) throw new Error(mailboxes.fullNotice);
    return opened;
  };

  return {
    handle(req, res) {
      if (!req.url?.startsWith(PREFIX)) return false;
      underway.set(res, req.socket);
      res.once('close', () => underway.delete(res));
      if (isClosed) req.socket.destroy();
      // A rejection is a broken hook with nobody left to tell: it stays unhandled, so that it is seen.
      else void serve(parts, req, res);
      return true;
    },
    mailbox,
    script(name, steps, settings = {}) {
      const script = parseScript({ steps, ...settings });
      if (script.kind === 'bad')
        throw new Error(`the script of "${name}" makes no sense: ${script.field} ${script.detail}`);
      const scripted = mailbox(name);
      scripted.use(script.value);
      return scripted;
    },
    onRequest: (hook) => added(requestHooks, hook),
    onAnswered: (hook) => added(answeredHooks, hook),
    async close() {
      isClosed = true;
      mailboxes.close();
      for (const socket of underway.values()) socket.destroy();
    },
  };
};

const added = <T>(hooks: Set<T>, hook: T): (() => void) => {
  hooks.add(hook);
  return () => {
    hooks.delete(hook);
  };
};
