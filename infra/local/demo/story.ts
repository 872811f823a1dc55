/** A story: a promise of the product, played over real HTTP, and checked by what the partner has really received. */
import type { Mailbox } from '../partner/mailbox.ts';
import type { Stage } from './stage.ts';

export interface Check {
  readonly says: string;
  readonly holds: boolean;
}

export interface Told {
  readonly requests: number;
  readonly effects: number;
  readonly outcome: string;
  readonly checks: readonly Check[];
}

export interface Story {
  readonly title: string;
  play(stage: Stage): Promise<Told>;
}

export const check = (says: string, holds: boolean): Check => ({ says, holds });

export const told = (mailbox: Mailbox, outcome: string, ...checks: readonly Check[]): Told => ({
  requests: mailbox.requestCount,
  effects: mailbox.effectCount,
  outcome,
  checks,
});

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

export const counts = (mailbox: Mailbox, requests: number, effects: number): readonly Check[] => [
  check(`${counted(requests, 'request')} at the partner`, mailbox.requestCount === requests),
  check(`${counted(effects, 'effect')} at the partner`, mailbox.effectCount === effects),
];
