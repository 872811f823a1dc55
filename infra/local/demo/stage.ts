/** What a story plays on: the local world over its real HTTP routes, and the partner's own memory of what it received. */
import { systemClock } from '../../../functions/adapters/system.ts';
import type { Mailbox, ReceivedRequest } from '../partner/mailbox.ts';
import type { Partner } from '../partner/partner.ts';

export interface DeliveryShown {
  readonly status: string;
  readonly reason?: string;
  readonly attempts: number;
  readonly budget: number;
  readonly journal: readonly EntryShown[];
}

export interface EntryShown {
  readonly kind: string;
  readonly cause: string;
  readonly at: string;
  readonly class?: string;
  readonly attempt?: number;
  readonly nextAt?: string;
}

export interface DestinationSettings {
  readonly repeatSafe: boolean;
  readonly schedule?: readonly number[];
  readonly timeoutMs?: number;
  readonly ratePerSecond?: number;
  readonly acceptFromQueue?: boolean;
}

const WAIT_MS_MAX = 45_000;
const LOOK_EVERY_MS = 50;

export class Stage {
  readonly #token: string;
  readonly #partnerUrl: string;
  #decisions = 0;
  readonly partner: Partner;
  /** A world that was killed comes back at another address. */
  url: string;

  constructor(url: string, token: string, partner: Partner, partnerUrl: string) {
    this.url = url;
    this.#token = token;
    this.partner = partner;
    this.#partnerUrl = partnerUrl;
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json', ...more },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  /** A destination of the same name as its mailbox at the partner. */
  async destination(name: string, settings: DestinationSettings): Promise<Mailbox> {
    const answer = await this.call('PUT', `/v1/destinations/${name}`, {
      url: `${this.#partnerUrl}/partner/${name}`,
      // Enough for a machine that has other things to do: only stories about time-outs and leases want less.
      timeoutMs: 10_000,
      ...settings,
    });
    if (answer.status > 201) throw new Error(`PUT of destination ${name}: ${JSON.stringify(answer.body)}`);
    return this.partner.mailbox(name);
  }

  /** A decision on record: who repeats it under the same key decides once. */
  async decide(path: string, body: Record<string, unknown>): Promise<unknown> {
    this.#decisions += 1;
    const key = `demo-${this.#decisions}`;
    const answer = await this.call('POST', path, body, { 'idempotency-key': key });
    if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  submit(id: string, destination: string, more: Record<string, unknown> = {}) {
    return this.call('POST', '/v1/events', { id, payload: { story: id }, destinations: [destination], ...more });
  }

  async delivery(event: string, destination: string): Promise<DeliveryShown> {
    const { status, body } = await this.call(
      'GET',
      `/v1/events/${encodeURIComponent(event)}/deliveries/${destination}`,
    );
    if (status !== 200) throw new Error(`no delivery of ${event} to ${destination}: ${JSON.stringify(body)}`);
    return body as DeliveryShown;
  }

  ended(event: string, destination: string): Promise<DeliveryShown> {
    const ends = ['delivered', 'quarantined', 'cancelled'];
    return this.until(event, destination, (shown) => ends.includes(shown.status));
  }

  /** The delivery as soon as it is as wanted; after a long wait, as it is then. */
  async until(event: string, destination: string, wanted: (shown: DeliveryShown) => boolean): Promise<DeliveryShown> {
    const lastMs = systemClock.nowMs() + WAIT_MS_MAX;
    for (;;) {
      const shown = await this.delivery(event, destination).catch(() => undefined);
      if (shown && wanted(shown)) return shown;
      if (systemClock.nowMs() > lastMs) {
        if (shown) return shown;
        throw new Error(`${event} to ${destination} cannot be read`);
      }
      await systemClock.sleep(LOOK_EVERY_MS);
    }
  }
}

export const header = (request: ReceivedRequest | undefined, name: string): string =>
  String(request?.headers[name] ?? '');
