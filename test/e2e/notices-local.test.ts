/** Notices in the local world: the real queue, the embedded DynamoDB, and an operator's hook that checks signatures. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { silentTelemetry } from '../../functions/adapters/telemetry.ts';
import { demoWorldOptions } from '../../infra/local/demo/options.ts';
import { header, Stage } from '../../infra/local/demo/stage.ts';
import { type LocalWorld, openWorld } from '../../infra/local/world.ts';

const TOKEN = 'test-admin-token-0123456789';

let local: LocalWorld;
let stage: Stage;

beforeAll(async () => {
  local = await openWorld({ ...demoWorldOptions(TOKEN, silentTelemetry), tickMs: 3_600_000 });
  stage = new Stage(local.url, TOKEN, local.partner, local.url);
});
afterAll(() => local.close());

it('an operator hears of a quarantine by a signed delivery that stands in the ledger as any other', async () => {
  const set = (id: string, query: string, more: object) =>
    stage.call('PUT', `/v1/destinations/${id}`, {
      url: `${local.url}/partner/${id}${query}`,
      repeatSafe: true,
      ...more,
    });
  expect((await set('partner', '?status=422', {})).status).toBe(201);
  expect((await set('ops', '', { notices: true })).status).toBe(201);
  const ops = local.partner.mailbox('ops');
  await stage.submit('order-1', 'partner');
  const [request] = await ops.received(1);
  expect(JSON.parse(Buffer.from(request?.body ?? '').toString())).toMatchObject({
    notice: 'delivery-quarantined',
    destination: 'partner',
    event: 'order-1',
    look: 'onceward delivery explain order-1 partner',
  });
  expect(header(request, 'webhook-signature')).toMatch(/^v1,/);
  const { body } = await stage.call('GET', '/v1/deliveries?list=recent&destination=ops');
  const [row] = (body as { items: { event: string }[] }).items;
  expect(row?.event).toMatch(/^notice~delivery-quarantined~/);
  expect((await stage.ended(row?.event ?? '', 'ops')).status).toBe('delivered');
});
