import { Budget } from './budget.ts';
import { Mailbox } from './mailbox.ts';

export interface Bounds {
  readonly mailboxes: number;
  /** Of all requests and effects together, bodies included. */
  readonly recordBytes: number;
  /** Of all known idempotency keys together. */
  readonly keyBytes: number;
}

const MB = 1_024 * 1_024;
export const BOUNDS: Bounds = { mailboxes: 1_000, recordBytes: 64 * MB, keyBytes: 64 * MB };

const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;

export const NAME_RULE = '1 to 64 letters, digits, dots, dashes or underscores, not starting with a dot';

/** A name is one segment of a path as it is, without escapes. */
export const isMailboxName = (name: string): boolean => NAME.test(name);

/** All mailboxes of one partner; they share what memory there is. */
export class Mailboxes {
  readonly #byName = new Map<string, Mailbox>();
  readonly #bounds: Bounds;
  readonly #budgets: { readonly records: Budget; readonly keys: Budget };

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#budgets = { records: new Budget(bounds.recordBytes), keys: new Budget(bounds.keyBytes) };
  }

  /** What to tell somebody for whom `open` had nothing. */
  get fullNotice(): string {
    return `All ${this.#bounds.mailboxes} mailboxes are in use: DELETE /partner/<name> for one that is done with.`;
  }

  find(name: string): Mailbox | undefined {
    return this.#byName.get(name);
  }

  /** Made if it is not there; an idle one makes room. Undefined when all are in use. */
  open(name: string): Mailbox | undefined {
    const present = this.#byName.get(name);
    if (present !== undefined) return present;
    if (this.#byName.size >= this.#bounds.mailboxes) {
      const idle = [...this.#byName.values()].find((mailbox) => mailbox.isIdle);
      if (idle === undefined) return undefined;
      this.#byName.delete(idle.name);
    }
    const made = new Mailbox(name, this.#budgets);
    this.#byName.set(name, made);
    return made;
  }

  close(): void {
    for (const mailbox of this.#byName.values()) mailbox.close();
  }
}
