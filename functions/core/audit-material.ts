/** What an audit looks at, and what it may find. */
import type { Status } from './model.ts';

/** A row as an auditor needs it: the journal byte for byte, and what the journal can be held against. */
export interface AuditMaterial {
  readonly event: string;
  readonly destination: string;
  readonly payloadHash: string;
  readonly head: string;
  /** The lines as they are stored: the chain is taken over their bytes. */
  readonly lines: readonly string[];
  readonly status: Status;
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
  readonly attempts: number;
  readonly budget: number;
  readonly refunds: number;
  readonly redrives: number;
  readonly decisions: number;
  /** SHA-256 of the payload's bytes as they are now; undefined: there is no event. */
  readonly payloadHashNow?: string | undefined;
}

/** One thing that is not as it should be. */
export interface Fault {
  readonly kind: /** The lines do not lead to the head. */
    | 'chain'
    /** A head that was kept outside is not on the chain. */
    | 'head'
    | 'line'
    /** Entries that cannot follow each other. */
    | 'order'
    | 'status'
    | 'budget'
    | 'count'
    | 'payload'
    /** It should be there, and is not. */
    | 'missing'
    | 'unreadable';
  readonly says: string;
}
