/** What the tests of the sender share: requests, servers that close by themselves, resolvers that follow a script. */

import { afterEach } from 'vitest';

import type { Lookup } from '../../functions/adapters/sender/resolve.ts';
import { createSender } from '../../functions/adapters/sender/sender.ts';
import type { TargetPolicy } from '../../functions/core/target.ts';
import type { OutgoingRequest, Sender } from '../../functions/ports.ts';
import { type Behaviour, type HostileServer, hostileServer, type ServerOptions } from './hostile-server.ts';

export const CLOUD: TargetPolicy = { allowLocal: false };
export const LOCAL: TargetPolicy = { allowLocal: true };

export const clock = { nowMs: () => performance.now() };

export const toLoopback: Lookup = async () => ['127.0.0.1'];

/** A sender that may reach this machine, and finds it under every name. */
export const localSender = (lookup: Lookup = toLoopback): Sender => createSender({ policy: LOCAL, clock, lookup });

export const requestTo = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  url,
  headers: { 'content-type': 'application/json', 'idempotency-key': 'k1' },
  body: Buffer.from('{"paid":true}'),
  deadlineMs: 2_000,
  connectMs: 1_000,
  excerptBytes: 64,
  ...more,
});

/** Called once in a test file: what it returns starts servers that live until the end of the test. */
export const serversOfEachTest = (): ((behaviour: Behaviour, options?: ServerOptions) => Promise<HostileServer>) => {
  const servers: HostileServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });
  return async (behaviour, options) => {
    const server = await hostileServer(behaviour, options);
    servers.push(server);
    return server;
  };
};

/** Answers in turn, the last one for ever, and counts how often it was asked. */
export const script = (...turns: readonly (readonly string[] | Error)[]): { lookup: Lookup; asked: () => number } => {
  let asked = 0;
  const lookup: Lookup = async () => {
    const turn = turns[Math.min(asked, turns.length - 1)] ?? [];
    asked += 1;
    if (turn instanceof Error) throw turn;
    return turn;
  };
  return { lookup, asked: () => asked };
};
